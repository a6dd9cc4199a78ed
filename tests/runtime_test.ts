/** Controllers at work, on the API server in the process. */
import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import {
  access,
  type Context,
  controller,
  type Infer,
  operator,
  type Outcome,
  PermanentError,
  requeue,
  resource,
  s,
  TemporaryError,
} from "@op/sdk";
import { ConfigMap, Namespace, Secret } from "@op/sdk/kinds";
import { type MemoryCluster, memoryCluster } from "@op/sdk/testing";
import { startOperator } from "../src/operator/running.ts";

const Note = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Note",
  spec: s.object({ text: s.string({ default: "hello" }) }),
  status: s.object({ text: s.optional(s.string()), runs: s.optional(s.integer()) }),
});
type Note = Infer<typeof Note>;
type NoteContext = Context<typeof Note, readonly [typeof ConfigMap]>;

const FINALIZER = "demo.example.com/test.notes";

Deno.test("a controller runs for a new object, for a change, and not for what is not its kind", async () => {
  const { notes, runs } = recording();
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: { text: "one" } });
  await cluster.settle();
  await cluster.patch(Note, "a", { spec: { text: "two" } });
  await cluster.create(ConfigMap, "a", { data: { text: "of nobody" } });
  await cluster.settle();
  assert.deepEqual(runs, ["a one: changed", "a two: changed"]);
});

Deno.test("a controller finds what was there before it started, and reads defaults filled in", async () => {
  const { notes, runs } = recording();
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  runs.length = 0;
  await cluster.restart();
  await cluster.settle();
  assert.deepEqual(runs, ["a hello: found at start"]);
});

Deno.test("a controller repairs what it owns when it drifts and when it is deleted, and leaves what others added", async () => {
  const { notes, runs } = recording(applyText);
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: { text: "one" } });
  await cluster.settle();

  await cluster.patch(ConfigMap, "a", { data: { text: "drifted", more: "of another" } });
  await cluster.settle();
  assert.deepEqual((await cluster.get(ConfigMap, "a")).data, { text: "one", more: "of another" });

  await cluster.delete(ConfigMap, "a");
  await cluster.settle();
  assert.deepEqual((await cluster.get(ConfigMap, "a")).data, { text: "one" });
  assert.deepEqual(runs, ["a one: changed", "a one: owned changed", "a one: owned changed"]);
});

Deno.test("a controller takes away a field that it wants no more", async () => {
  const { notes } = recording(async ({ metadata: { name }, spec }, { apply }) => {
    await apply(ConfigMap, { metadata: { name }, data: { always: "yes", [spec.text]: "now" } });
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: { text: "one" } });
  await cluster.settle();
  await cluster.patch(Note, "a", { spec: { text: "two" } });
  await cluster.settle();
  assert.deepEqual((await cluster.get(ConfigMap, "a")).data, { always: "yes", two: "now" });
});

Deno.test("both the old and the new owner run when an owned object changes hands", async () => {
  const { notes, runs } = recording();
  await using cluster = await memoryCluster({ parts: { notes } });
  const [a, b] = [await cluster.create(Note, "a", { spec: {} }), await cluster.create(Note, "b", { spec: {} })];
  await cluster.create(ConfigMap, "handed", { metadata: { ownerReferences: [ownedBy(a)] } });
  await cluster.settle();
  runs.length = 0;

  await cluster.patch(ConfigMap, "handed", { metadata: { ownerReferences: [ownedBy(b)] } });
  await cluster.settle();
  assert.deepEqual(runs.sort(), ["a hello: owned changed", "b hello: owned changed"]);
});

Deno.test("what an object owns goes with it", async () => {
  const { notes } = recording(applyText);
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  await cluster.delete(Note, "a");
  await cluster.settle();
  assert.equal(await cluster.exists(ConfigMap, "a"), false);
});

Deno.test("many changes during a run cause one run after it, which sees the last of them", async () => {
  const gate = Promise.withResolvers<void>();
  const { notes, runs } = recording(() => gate.promise);
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: { text: "one" } });
  await until(() => runs.length === 1);
  for (const text of ["two", "three", "four"]) await cluster.patch(Note, "a", { spec: { text } });
  gate.resolve();
  await cluster.settle();
  assert.deepEqual(runs, ["a one: changed", "a four: changed"]);
});

Deno.test("at most as many objects as the concurrency says are reconciled at once", async () => {
  let now = 0;
  let most = 0;
  const { notes, runs } = recording(async () => {
    most = Math.max(most, ++now);
    await new Promise<void>((resolve) => setImmediate(resolve));
    now--;
  }, { concurrency: 2 });
  await using cluster = await memoryCluster({ parts: { notes } });
  for (const name of ["a", "b", "c", "d", "e"]) await cluster.create(Note, name, { spec: {} });
  await cluster.settle();
  assert.equal(most, 2);
  assert.equal(runs.length, 5);
});

Deno.test("requeue runs again when its time has come, and not before", async () => {
  const { notes, runs } = recording(() => requeue("10m"));
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.advance("9m");
  assert.deepEqual(runs, ["a hello: changed"]);
  await cluster.advance("1m");
  assert.deepEqual(runs, ["a hello: changed", "a hello: requeued"]);
  await cluster.advance("1h");
  assert.equal(runs.length, 8);
});

Deno.test("a change before the time of a requeue runs at once and starts that time anew", async () => {
  const { notes, runs } = recording(() => requeue("10m"));
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.advance("9m");
  await cluster.patch(Note, "a", { spec: { text: "two" } });
  await cluster.advance("9m");
  assert.deepEqual(runs, ["a hello: changed", "a two: changed"]);
  await cluster.advance("1m");
  assert.equal(runs.length, 3);
});

Deno.test("requeue of no time runs again at once", async () => {
  let left = 3;
  const { notes, runs } = recording(() => left-- > 0 ? requeue("0s") : undefined);
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.advance("0s");
  assert.equal(runs.length, 4);
});

Deno.test("failed runs are tried again after 5 ms, then twice that each time, and start from 5 ms after a success", async () => {
  let fails = true;
  const times: number[] = [];
  const attempts: number[] = [];
  const notes = controller(Note, {
    reconcile(_, { attempt, reason }) {
      times.push(cluster.clock.now());
      attempts.push(attempt);
      assert.equal(reason, attempt === 1 ? "changed" : "retried");
      if (fails) throw new Error("boom");
    },
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  const gaps = () => times.slice(1).map((time, i) => time - times[i]!);
  await cluster.create(Note, "a", { spec: {} });
  // The memory cluster spreads each wait to seven eighths of it.
  await cluster.advance("150ms");
  assert.deepEqual(gaps(), [5, 10, 20, 40, 80].map((gap) => gap * 7 / 8));
  assert.deepEqual(attempts, [1, 2, 3, 4, 5, 6]);

  fails = false;
  await cluster.advance("1h");
  assert.equal(attempts.at(-1), 7);
  fails = true;
  times.length = attempts.length = 0;
  await cluster.patch(Note, "a", { spec: { text: "two" } });
  await cluster.advance("5ms");
  assert.deepEqual(gaps(), [5 * 7 / 8]);
  assert.deepEqual(attempts, [1, 2]);
});

Deno.test("an object that always fails is never given up: the longest wait is 1000 s", async () => {
  const times: number[] = [];
  const notes = controller(Note, {
    reconcile() {
      times.push(cluster.clock.now());
      throw new TemporaryError("not yet");
    },
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.advance("6h");
  assert.equal(times.at(-1)! - times.at(-2)!, 1_000_000 * 7 / 8);
});

Deno.test("a backoff is not shortened by what changes beside the object, and ended by a change of its spec", async () => {
  const { notes, runs } = recording(({ spec }) => {
    if (spec.text !== "good") throw new TemporaryError("bad", { retry: "1h" });
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  const note = await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  await cluster.create(ConfigMap, "owned", { metadata: { ownerReferences: [ownedBy(note)] } });
  await cluster.advance("59m");
  assert.deepEqual(runs, ["a hello: changed"]);

  await cluster.patch(Note, "a", { spec: { text: "good" } });
  await cluster.settle();
  await cluster.advance("2h");
  assert.deepEqual(runs, ["a hello: changed", "a good: changed"]);
});

Deno.test("TemporaryError is tried again when it says", async () => {
  const { notes, runs } = recording((_, { attempt }) => {
    if (attempt === 1) throw new TemporaryError("the database sleeps", { retry: "30s" });
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.advance("29s");
  assert.deepEqual(runs, ["a hello: changed"]);
  await cluster.advance("1s");
  assert.deepEqual(runs, ["a hello: changed", "a hello: retried"]);
});

Deno.test("PermanentError waits for a change of the object, and says so until then", async () => {
  const { notes, runs } = recording(({ spec }) => {
    if (spec.text === "bad") throw new PermanentError("there is no such text");
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: { text: "bad" } });
  await cluster.advance("1h");
  assert.deepEqual(runs, ["a bad: changed"]);
  assert.deepEqual(await conditions(cluster), [
    "Ready=False PermanentError: there is no such text",
    "Stalled=True PermanentError: there is no such text",
  ]);

  await cluster.patch(Note, "a", { spec: { text: "good" } });
  await cluster.settle();
  assert.deepEqual(runs, ["a bad: changed", "a good: changed"]);
  assert.deepEqual(await conditions(cluster), ["Ready=True Reconciled: "]);
});

Deno.test("conditions tell success and failure, with the time at which each changed last", async () => {
  const { notes } = recording(({ spec }) => {
    if (spec.text === "bad") throw new TemporaryError("cannot read it", { retry: "10h" });
  });
  await using cluster = await memoryCluster({ parts: { notes }, start: new Date("2030-01-01T00:00:00Z") });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  assert.deepEqual(await conditions(cluster), ["Ready=True Reconciled: "]);

  await cluster.advance("1h");
  await cluster.patch(Note, "a", { spec: { text: "bad" } });
  await cluster.settle();
  await cluster.advance("1h");
  await cluster.patch(Note, "a", { metadata: { labels: { touched: "yes" } } });
  await cluster.settle();
  assert.deepEqual(await conditions(cluster), [
    "Ready=False TemporaryError: cannot read it",
    "Reconciling=True TemporaryError: cannot read it",
  ]);
  const { status, metadata } = await cluster.get(Note, "a");
  assert.deepEqual(status?.conditions?.map(({ lastTransitionTime }) => lastTransitionTime), [
    "2030-01-01T01:00:00Z",
    "2030-01-01T01:00:00Z",
  ]);
  assert.deepEqual([status?.observedGeneration, metadata.generation], [2, 2]);

  await cluster.patch(Note, "a", { spec: { text: "good" } });
  await cluster.settle();
  assert.deepEqual(await conditions(cluster), ["Ready=True Reconciled: "]);
});

Deno.test("the status of a run is written once, with what was said last and the generation it speaks of", async () => {
  const { notes } = recording(({ spec }, { status, condition }) => {
    status({ text: "first" });
    status({ text: spec.text, runs: 1 });
    condition({ type: "Printed", status: "False", reason: "Waiting" });
    condition({ type: "Printed", status: "True", reason: "Done" });
    condition({ type: "Ready", status: "Unknown", reason: "Proofreading" });
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  const { status } = await cluster.get(Note, "a");
  assert.deepEqual([status?.text, status?.runs, status?.observedGeneration], ["hello", 1, 1]);
  assert.deepEqual(await conditions(cluster), ["Printed=True Done: ", "Ready=Unknown Proofreading: "]);
  assert.deepEqual(writes(cluster), ["PATCH notes/a/status"]);
});

Deno.test("nothing of the status is written when the reconciler fails, but the failure", async () => {
  const { notes } = recording((_, { status }) => {
    status({ text: "half" });
    throw new PermanentError("no");
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  assert.equal((await cluster.get(Note, "a")).status?.text, undefined);
  assert.deepEqual(writes(cluster), ["PATCH notes/a/status"]);
});

Deno.test("a run's own writes cause no other run, and a run that changes nothing writes nothing", async () => {
  const { notes, runs } = recording(async (note, context) => {
    await applyText(note, context);
    context.status({ text: note.spec.text });
  }, { cleanup() {} });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  assert.deepEqual(runs, ["a hello: changed"]);
  assert.deepEqual(writes(cluster), ["PATCH notes/a", "PATCH configmaps/a", "PATCH notes/a/status"]);

  await cluster.patch(Note, "a", { metadata: { labels: { touched: "yes" } } });
  await cluster.settle();
  assert.equal(runs.length, 2);
  assert.equal(writes(cluster).length, 3);
});

Deno.test("an operator that starts again writes nothing", async () => {
  const { notes, runs } = recording(async (note, context) => {
    await applyText(note, context);
    context.status({ text: note.spec.text });
  }, { cleanup() {} });
  await using cluster = await memoryCluster({ parts: { notes } });
  for (const name of ["a", "b", "c"]) await cluster.create(Note, name, { spec: { text: name } });
  await cluster.settle();
  const before = writes(cluster);
  runs.length = 0;
  await cluster.restart();
  await cluster.settle();
  assert.deepEqual(runs, ["a a: found at start", "b b: found at start", "c c: found at start"]);
  assert.deepEqual(writes(cluster), before);
});

Deno.test("a controller leaves the status of kinds that are not its own alone", async () => {
  const names: string[] = [];
  const namespaces = controller(Namespace, { reconcile: ({ metadata }) => void names.push(metadata.name) });
  await using cluster = await memoryCluster({ parts: { namespaces } });
  await cluster.settle();
  assert(names.includes("default"));
  assert.deepEqual(writes(cluster), []);
});

Deno.test("a controller of a kind without a generation runs for a change of its content", async () => {
  const texts: unknown[] = [];
  const configs = controller(ConfigMap, { reconcile: ({ data }) => void texts.push(data?.text) });
  await using cluster = await memoryCluster({ parts: { configs } });
  await cluster.create(ConfigMap, "a", { data: { text: "one" } });
  await cluster.settle();
  await cluster.patch(ConfigMap, "a", { data: { text: "two" } });
  await cluster.settle();
  assert.deepEqual(texts, ["one", "two"]);
});

Deno.test("the finalizer is on before the first run, and off after cleanup, when the object goes", async () => {
  const cleaned: string[] = [];
  const seen: (readonly string[] | undefined)[] = [];
  const { notes, runs } = recording(({ metadata }) => void seen.push(metadata.finalizers), {
    cleanup: ({ spec }, { reason }) => void cleaned.push(`${spec.text}: ${reason}`),
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  assert.deepEqual(seen, [[FINALIZER]]);
  assert.deepEqual((await cluster.get(Note, "a")).metadata.finalizers, [FINALIZER]);

  await cluster.delete(Note, "a");
  await cluster.settle();
  assert.deepEqual(cleaned, ["hello: changed"]);
  assert.equal(await cluster.exists(Note, "a"), false);
  assert.equal(runs.length, 1, "what is deleted is not reconciled");
});

Deno.test("an object stays while its cleanup fails or asks for more time, and others' finalizers stay on", async () => {
  const outcomes: (() => Outcome)[] = [
    () => {
      throw new TemporaryError("still in use", { retry: "1m" });
    },
    () => requeue("1m"),
    () => undefined,
  ];
  const { notes } = recording(undefined, { cleanup: () => outcomes.shift()!() });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { metadata: { finalizers: ["other.example.com/x"] }, spec: {} });
  await cluster.settle();
  await cluster.delete(Note, "a");
  await cluster.settle();
  assert.deepEqual(await conditions(cluster), [
    "Ready=False TemporaryError: still in use",
    "Reconciling=True TemporaryError: still in use",
  ]);
  await cluster.advance("1m");
  assert.equal(outcomes.length, 1);
  const held = (await cluster.get(Note, "a")).metadata.finalizers;
  assert.deepEqual(held?.toSorted(), [FINALIZER, "other.example.com/x"]);
  await cluster.advance("1m");
  assert.deepEqual((await cluster.get(Note, "a")).metadata.finalizers, ["other.example.com/x"]);
  await cluster.patch(Note, "a", { metadata: { finalizers: [] } });
  await cluster.settle();
  assert.equal(await cluster.exists(Note, "a"), false);
});

Deno.test("a finalizer left by an earlier version, whose cleanup is gone, is taken off", async (t) => {
  await t.step("from an object that lives", async () => {
    const { notes, runs } = recording();
    await using cluster = await memoryCluster({ parts: { notes } });
    await cluster.create(Note, "a", { metadata: { finalizers: [FINALIZER, "other.example.com/x"] }, spec: {} });
    await cluster.settle();
    assert.deepEqual((await cluster.get(Note, "a")).metadata.finalizers, ["other.example.com/x"]);
    assert.equal(runs.length, 1);
  });
  await t.step("from an object that is being deleted", async () => {
    const { notes, runs } = recording();
    await using cluster = await memoryCluster({ kinds: [Note] });
    await cluster.create(Note, "a", { metadata: { finalizers: [FINALIZER] }, spec: {} });
    await cluster.delete(Note, "a");
    const op = operator({ name: "test", parts: { notes } });
    await using _ = startOperator(op, { connection: cluster.connection, clock: cluster.clock });
    await until(async () => !(await cluster.exists(Note, "a")));
    assert.equal(runs.length, 0);
  });
});

Deno.test("an object is not run before its finalizer is on, though another writer is faster", async () => {
  const { notes, runs } = recording(undefined, { cleanup() {} });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.patch(Note, "a", { metadata: { finalizers: ["other.example.com/x"] } });
  await cluster.settle();
  const { metadata } = await cluster.get(Note, "a");
  assert.deepEqual(metadata.finalizers?.toSorted(), [FINALIZER, "other.example.com/x"]);
  assert(runs.length >= 1);
});

Deno.test("a run that takes too long is aborted, reported and tried again, though it does not heed its signal", async () => {
  const signals: AbortSignal[] = [];
  const { notes, runs } = recording((_, { signal }) => {
    signals.push(signal);
    return signals.length === 1 ? new Promise(() => {}) : undefined;
  }, { timeout: "5s" });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await until(() => signals.length === 1);
  cluster.clock.step(cluster.clock.now() + 4999);
  assert.equal(signals[0]!.aborted, false);
  cluster.clock.step(cluster.clock.now() + 1);
  await until(async () => (await conditions(cluster)).includes("Ready=False Timeout: The run took longer than 5s"));
  assert.equal(signals[0]!.reason.name, "TimeoutError");
  await cluster.settle();
  assert.deepEqual(runs, ["a hello: changed", "a hello: retried"]);
  assert.deepEqual(await conditions(cluster), ["Ready=True Reconciled: "]);
});

Deno.test("deleting an object aborts the signal of its run", async (t) => {
  for (const [name, cleanup] of [["without cleanup", undefined], ["with cleanup", () => {}]] as const) {
    await t.step(name, async () => {
      let signal: AbortSignal | undefined;
      const { notes, runs } = recording((_, context) => {
        signal = context.signal;
        return new Promise((_, reject) => signal!.addEventListener("abort", () => reject(signal!.reason)));
      }, cleanup ? { cleanup } : {});
      await using cluster = await memoryCluster({ parts: { notes } });
      await cluster.create(Note, "a", { spec: {} });
      await until(() => runs.length === 1);
      assert.equal(signal?.aborted, false);
      await cluster.delete(Note, "a");
      await cluster.settle();
      assert.equal(signal?.aborted, true);
      assert.equal(await cluster.exists(Note, "a"), false);
      assert.equal(runs.length, 1);
    });
  }
});

Deno.test("a reconciler that throws for one object touches no other", async () => {
  const thrown = [new Error("boom"), "text", undefined, null, Object.create(null)];
  const { notes, runs } = recording(({ metadata: { name } }, { attempt }) => {
    if (name.startsWith("bad") && attempt === 1) throw thrown[Number(name.slice(3))];
  }, { concurrency: 1 });
  await using cluster = await memoryCluster({ parts: { notes } });
  for (const i of thrown.keys()) await cluster.create(Note, `bad${i}`, { spec: {} });
  await cluster.create(Note, "good", { spec: {} });
  await cluster.settle();
  assert(runs.includes("good hello: changed"));
  for (const i of thrown.keys()) assert(runs.includes(`bad${i} hello: retried`), `bad${i} is not tried again`);
});

Deno.test("two controllers of one kind each do their part and come to rest", async () => {
  const done: string[] = [];
  const part = (name: string) =>
    controller(Note, {
      owns: [ConfigMap],
      async reconcile(note, { apply }) {
        await apply(ConfigMap, { metadata: { name: `${note.metadata.name}-${name}` }, data: { text: note.spec.text } });
      },
      cleanup: () => void done.push(name),
    });
  await using cluster = await memoryCluster({ parts: { one: part("one"), two: part("two") } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  const names = (await cluster.list(ConfigMap)).map(({ metadata }) => metadata.name).sort();
  assert.deepEqual(names, ["a-one", "a-two"]);
  assert.deepEqual((await cluster.get(Note, "a")).metadata.finalizers?.toSorted(), [
    "demo.example.com/test.one",
    "demo.example.com/test.two",
  ]);
  const before = writes(cluster).length;
  await cluster.patch(Note, "a", { metadata: { labels: { touched: "yes" } } });
  await cluster.settle();
  assert.equal(writes(cluster).length, before, "neither undoes what the other wrote");

  await cluster.delete(Note, "a");
  await cluster.settle();
  // Cleanups that end together race for the finalizers: the slower one runs again.
  assert.deepEqual([...new Set(done)].sort(), ["one", "two"]);
  assert.equal(await cluster.exists(Note, "a"), false);
});

Deno.test("a run reads what it wrote, at once, and is not woken by it", async () => {
  const read: Record<string, unknown> = {};
  const { notes, runs } = recording(async (note, { apply, create, patch, get, list }) => {
    if (read.created !== undefined) return;
    await create(ConfigMap, { metadata: { name: "made" }, data: { text: "created" } });
    read.created = (await get(ConfigMap, "made"))?.data?.text;
    read.listed = (await list(ConfigMap)).map(({ metadata }) => metadata.name);
    await patch(ConfigMap, "made", { data: { text: "patched" } });
    read.patched = (await get(ConfigMap, "made"))?.data?.text;
    const applied = await apply(ConfigMap, { metadata: { name: "made" }, data: { text: "applied" } });
    read.applied = (await get(ConfigMap, "made"))?.data?.text;
    read.owners = applied.metadata.ownerReferences?.map(({ uid }) => uid === note.metadata.uid);
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  assert.deepEqual(await conditions(cluster), ["Ready=True Reconciled: "]);
  assert.deepEqual(read, {
    created: "created",
    listed: ["made"],
    patched: "patched",
    applied: "applied",
    owners: [true],
  });
  assert.deepEqual(runs, ["a hello: changed"]);
});

Deno.test("a run does not read what it deleted, is not woken by it, and deletes what is gone without an error", async () => {
  const read: unknown[] = [];
  let runs = 0;
  const notes = controller(Note, {
    owns: [ConfigMap],
    uses: [access(ConfigMap, "delete")],
    async reconcile({ spec }, context) {
      runs++;
      if (spec.text === "keep") return await applyText(await context.get(Note, "a") as Note, context);
      await context.delete(ConfigMap, "a");
      read.push(
        await context.get(ConfigMap, "a"),
        (await context.list(ConfigMap)).some(({ metadata }) => metadata.name === "a"),
      );
      await context.delete(ConfigMap, "a");
    },
  });
  await using cluster = await memoryCluster({ parts: { notes }, patience: 5000 });
  await cluster.create(Note, "a", { spec: { text: "keep" } });
  await cluster.settle();
  await cluster.patch(Note, "a", { spec: { text: "drop" } });
  await cluster.settle();
  assert.equal(await cluster.exists(ConfigMap, "a"), false);
  assert.deepEqual(read, [undefined, false]);
  assert.equal(runs, 2);
});

Deno.test("lists from the cache take a namespace, all of them, and labels", async () => {
  let lists: string[][] = [];
  const notes = controller(Note, {
    reads: [ConfigMap],
    async reconcile(_, { list }) {
      const found = await Promise.all([
        list(ConfigMap),
        list(ConfigMap, { namespace: "team" }),
        list(ConfigMap, { namespace: "*", selector: { app: "web" } }),
      ]);
      lists = found.map((objects) =>
        objects.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).filter((key) => /\d$/.test(key)).sort()
      );
    },
  });
  await using cluster = await memoryCluster({ parts: { notes }, namespaces: ["team"] });
  const labels = { app: "web" };
  await cluster.create(ConfigMap, "c1", { metadata: { labels } });
  await cluster.create(ConfigMap, "c2", {});
  await cluster.create(ConfigMap, "c3", { metadata: { labels } }, { namespace: "team" });
  await cluster.settle();
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  assert.deepEqual(lists, [["default/c1", "default/c2"], ["team/c3"], ["default/c1", "team/c3"]]);
});

const REFUSED: readonly { name: string; touch: (context: NoteContext) => Promise<unknown>; message: RegExp }[] = [
  {
    name: "an owner in another namespace",
    touch: ({ apply }) => apply(ConfigMap, { metadata: { name: "x", namespace: "team" } }),
    message: /^Cannot make Note "default\/a" the owner of ConfigMap "x": it is in namespace "team"/,
  },
  {
    name: "a kind that is not declared",
    touch: ({ get }) => get(Secret as never, "x"),
    message: /^Cannot touch Secret: controller "notes" does not declare it: add access\(Secret, "get"\) to "uses"$/,
  },
  {
    name: "deleting what is only owned",
    touch: (context) => context.delete(ConfigMap as never, "x"),
    message:
      /^Cannot touch ConfigMap: controller "notes" does not declare it: add access\(ConfigMap, "delete"\) to "uses"$/,
  },
];

for (const { name, touch, message } of REFUSED) {
  Deno.test(`a run is refused ${name}, and told what to do`, async () => {
    const { notes } = recording(async (_, context) => void await touch(context));
    await using cluster = await memoryCluster({ parts: { notes }, namespaces: ["team"] });
    await cluster.create(Note, "a", { spec: {} });
    await cluster.settle();
    const ready = (await cluster.get(Note, "a")).status?.conditions?.find(({ type }) => type === "Ready");
    assert.match(ready!.message, message);
  });
}

Deno.test("what is applied without an owner may lie in another namespace, and outlives the object", async () => {
  const { notes } = recording(async ({ metadata: { name } }, { apply }) => {
    await apply(ConfigMap, { metadata: { name, namespace: "team" } }, { owner: false });
  });
  await using cluster = await memoryCluster({ parts: { notes }, namespaces: ["team"] });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  await cluster.delete(Note, "a");
  await cluster.settle();
  const made = await cluster.get(ConfigMap, "a", { namespace: "team" });
  assert.equal(made.metadata.ownerReferences, undefined);
});

type Reconcile = (note: Note, context: NoteContext) => Promise<Outcome> | Outcome;

/** A controller that writes down each run: `name text: reason`. */
function recording(
  reconcile: Reconcile = () => {},
  options: Omit<Parameters<typeof controller<typeof Note, readonly [typeof ConfigMap]>>[1], "owns" | "reconcile"> = {},
) {
  const runs: string[] = [];
  const notes = controller(Note, {
    ...options,
    owns: [ConfigMap],
    reconcile(note, context) {
      runs.push(`${note.metadata.name} ${note.spec.text}: ${context.reason}`);
      return reconcile(note, context);
    },
  });
  return { notes, runs };
}

async function applyText({ metadata: { name }, spec }: Note, { apply }: NoteContext): Promise<void> {
  await apply(ConfigMap, { metadata: { name }, data: { text: spec.text } });
}

function ownedBy({ apiVersion, kind, metadata: { name, uid } }: Note) {
  return { apiVersion, kind, name, uid, controller: true };
}

async function conditions(cluster: MemoryCluster): Promise<string[]> {
  const { status } = await cluster.get(Note, "a");
  return (status?.conditions ?? []).map(({ type, status, reason, message }) =>
    `${type}=${status} ${reason}: ${message}`
  );
}

/** What the operator wrote: `PATCH notes/a/status`. */
function writes({ requests }: MemoryCluster): string[] {
  return requests.filter(({ method, userAgent }) => method !== "GET" && userAgent === "test/0.0.0")
    .map(({ method, path }) =>
      `${method} ${path.replace(/\?.*/, "").split("/").slice(path.startsWith("/api/") ? 5 : 6).join("/")}`
    );
}

/** Lets turns of the event loop pass until something is so. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let turn = 0; !await isSo(); turn++) {
    assert(turn < 1000, "it never came");
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
