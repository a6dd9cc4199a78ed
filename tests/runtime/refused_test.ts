/** What a reconcile may not do, and how the error reports it. */
import assert from "node:assert/strict";
import { controller, PermanentError, TemporaryError } from "@op/sdk";
import { ConfigMap } from "@op/sdk/kinds";
import { memoryCluster } from "@op/sdk/testing";
import { Note, ownedBy } from "../fixtures/notes.ts";

Deno.test("an object cannot take over another object's child", async () => {
  const notes = controller(Note, {
    owns: [ConfigMap],
    async reconcile(note, { apply }) {
      await apply(ConfigMap, { metadata: { name: "shared" }, data: { text: note.spec.text } });
    },
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "first", { spec: { text: "first" } });
  await cluster.settle();
  await cluster.create(Note, "second", { spec: { text: "second" } });
  await cluster.settle();

  const shared = await cluster.get(ConfigMap, "shared");
  assert.deepEqual(shared.metadata.ownerReferences?.map(({ name }) => name), ["first"]);
  assert.equal(shared.data?.text, "first");
  const { status } = await cluster.get(Note, "second");
  assert.equal(
    status?.conditions?.find(({ type }) => type === "Ready")?.message,
    'Cannot apply ConfigMap "default/shared": it is owned by Note "first". Use another name, or apply it with { owner: false }',
  );
});

for (
  const [name, value, told] of [["a number that is none", NaN, '"runs" is NaN'], [
    "a bigint",
    1n,
    '"runs" is the bigint 1',
  ]] as const
) {
  Deno.test(`a status with ${name} fails the reconcile with an error that names the property`, async () => {
    const notes = controller(Note, {
      reconcile(_note, { status }) {
        status({ runs: value as number });
      },
    });
    await using cluster = await memoryCluster({ parts: { notes }, failures: "collect" });
    await cluster.create(Note, "a", { spec: {} });
    await cluster.settle();
    const ready = (await cluster.get(Note, "a")).status?.conditions?.find(({ type }) => type === "Ready");
    assert.equal(ready?.status, "False");
    assert(ready?.message.startsWith(`Status not written: ${told}`), ready?.message);
  });
}

Deno.test("controllers of one kind share Ready, which is True only if none of them failed last", async () => {
  let isBroken = true;
  const broken = controller(Note, {
    reconcile() {
      if (isBroken) throw new TemporaryError("no luck", { retry: "1m" });
    },
  });
  const fine = controller(Note, { reconcile: () => undefined });
  await using cluster = await memoryCluster({ parts: { broken, fine } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.advance("1h");
  const ready = async () =>
    (await cluster.get(Note, "a")).status?.conditions?.filter(({ status }) => status === "True").map(({ type }) =>
      type
    );
  assert.deepEqual(await ready(), ["Reconciling"]);
  const writes = cluster.requests.filter(({ method, path }) => method === "PATCH" && !path.includes("/events")).length;
  assert(writes <= 4, `${writes} writes: the condition flapped`);

  isBroken = false;
  await cluster.advance("2m");
  assert.deepEqual(await ready(), ["Ready"]);
});

Deno.test("two controllers that both report a PermanentError do not trigger each other by their status writes", async () => {
  const runs: string[] = [];
  const hopeless = (name: string) =>
    controller(Note, {
      owns: [ConfigMap],
      reconcile(_note, { reason }) {
        runs.push(`${name}: ${reason}`);
        throw new PermanentError(`${name} cannot`);
      },
    });
  await using cluster = await memoryCluster({ parts: { one: hopeless("one"), two: hopeless("two") }, maxTurns: 500 });
  const note = await cluster.create(Note, "a", { spec: {} });
  await cluster.advance("1h");
  assert(runs.length <= 4, `${runs.length} runs`);

  const changes = [
    ["a label", () => cluster.patch(Note, "a", { metadata: { labels: { now: "good" } } }), "changed"],
    ["its spec", () => cluster.patch(Note, "a", { spec: { text: "good" } }), "changed"],
    [
      "what it owns",
      () => cluster.create(ConfigMap, "owned", { metadata: { ownerReferences: [ownedBy(note)] } }),
      "owned changed",
    ],
  ] as const;
  for (const [what, change, reason] of changes) {
    runs.length = 0;
    await change();
    await cluster.advance("1h");
    assert.deepEqual([...new Set(runs)].sort(), [`one: ${reason}`, `two: ${reason}`], what);
    assert(runs.length <= 4, `${runs.length} runs after ${what}`);
  }
});

Deno.test("a change of the object's status does not end a backoff", async () => {
  let runs = 0;
  const notes = controller(Note, {
    reconcile() {
      runs++;
      throw new TemporaryError("later", { retry: "10m" });
    },
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  assert.equal(runs, 1);
  await cluster.client.patch(Note, "a", { status: { text: "of another" } }, {
    namespace: "default",
    subresource: "status",
  });
  await cluster.settle();
  assert.equal(runs, 1);
  await cluster.advance("11m");
  assert.equal(runs, 2);
});

Deno.test("settle fails when two controllers keep triggering each other, and names one of them", async () => {
  let count = 0;
  const raising = (name: "text" | "runs") =>
    controller(Note, {
      reconcile(_note, { status }) {
        count++;
        status(name === "runs" ? { runs: count } : { text: String(count) });
      },
    });
  await using cluster = await memoryCluster({ parts: { ping: raising("runs"), pong: raising("text") }, maxTurns: 200 });
  await cluster.create(Note, "a", { spec: {} });
  // Depending on the event loop, either settle times out first, or the limit for hot loops is
  // reached.
  await assert.rejects(cluster.settle(), /Cannot settle: .*\b(ping|pong)\b/);
});
