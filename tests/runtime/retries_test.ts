/** Repeated reconciles: requeues, failures, backoff, timeouts. */
import assert from "node:assert/strict";
import { controller, requeue, TemporaryError, watch } from "@op/sdk";
import { ConfigMap, Secret } from "@op/sdk/kinds";
import { memoryCluster } from "@op/sdk/testing";
import { applyText, conditions, Note, ownedBy, recording, until } from "../fixtures/notes.ts";

Deno.test("started and elapsed count from the first failed attempt, and start again after a success", async () => {
  const seen: string[] = [];
  const { notes } = recording((_note, { attempt, started, elapsed }) => {
    seen.push(`attempt ${attempt} since ${started.toISOString().slice(11, 19)}: ${elapsed / 1000} s`);
    if (attempt < 3) throw new TemporaryError("not yet", { retry: "30s" });
    return requeue("10m");
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.advance("12m");
  assert.deepEqual(seen, [
    "attempt 1 since 00:00:00: 0 s",
    "attempt 2 since 00:00:00: 30 s",
    "attempt 3 since 00:00:00: 60 s",
    "attempt 1 since 00:11:00: 0 s",
    "attempt 2 since 00:11:00: 30 s",
    "attempt 3 since 00:11:00: 60 s",
  ]);
});

Deno.test("requeue reconciles again after its delay, and not before", async () => {
  const { notes, reconciles } = recording(() => requeue("10m"));
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.advance("9m");
  assert.deepEqual(reconciles, ["a hello: changed"]);
  await cluster.advance("1m");
  assert.deepEqual(reconciles, ["a hello: changed", "a hello: requeued"]);
  await cluster.advance("1h");
  assert.equal(reconciles.length, 8);
});

Deno.test("a change before a requeue is due reconciles at once and restarts the delay", async () => {
  const { notes, reconciles } = recording(() => requeue("10m"));
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.advance("9m");
  await cluster.patch(Note, "a", { spec: { text: "two" } });
  await cluster.advance("9m");
  assert.deepEqual(reconciles, ["a hello: changed", "a two: changed"]);
  await cluster.advance("1m");
  assert.equal(reconciles.length, 3);
});

Deno.test("requeue with a zero delay reconciles again at once", async () => {
  let requeues = 3;
  const { notes, reconciles } = recording(() => requeues-- > 0 ? requeue("0s") : undefined);
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.advance("0s");
  assert.equal(reconciles.length, 4);
});

for (const outcome of [true, {}, "10m", { after: "10m" }, { after: NaN }, { after: -5 }]) {
  Deno.test(`a reconcile that returns ${Deno.inspect(outcome)}, which is not a valid result, fails and is retried with a backoff`, async () => {
    let runs = 0;
    const notes = controller(Note, { reconcile: () => (runs++, outcome as never) });
    await using cluster = await memoryCluster({ parts: { notes }, failures: "collect" });
    await cluster.create(Note, "a", { spec: {} });
    await cluster.settle();
    assert(runs > 1 && runs < 12, `${runs} reconciles`);
    assert.match(
      (await conditions(cluster))[0]!,
      /Ready=False ReconcileFailed: reconcile\(\) must return undefined or requeue\(\), got/,
    );
  });
}

Deno.test("a cleanup that returns null is complete", async () => {
  const notes = controller(Note, { reconcile() {}, cleanup: () => null as unknown as undefined });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  await cluster.delete(Note, "a");
  await cluster.settle();
  assert.equal(await cluster.exists(Note, "a"), false);
});

Deno.test("failed reconciles are retried after 5 ms, doubling each time, and start from 5 ms again after a success", async () => {
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
  await using cluster = await memoryCluster({ parts: { notes }, failures: "collect" });
  const gaps = () => times.slice(1).map((time, i) => time - times[i]!);
  await cluster.create(Note, "a", { spec: {} });
  // The memory cluster's jitter shortens each delay to seven eighths.
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

Deno.test("an object that always fails is retried forever, at most every 1000 s", async () => {
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

Deno.test("a change of an owned object does not end a backoff, and a change of the spec ends it", async () => {
  const { notes, reconciles } = recording(({ spec }) => {
    if (spec.text !== "good") throw new TemporaryError("bad", { retry: "1h" });
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  const note = await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  await cluster.create(ConfigMap, "owned", { metadata: { ownerReferences: [ownedBy(note)] } });
  await cluster.advance("59m");
  assert.deepEqual(reconciles, ["a hello: changed"]);

  await cluster.patch(Note, "a", { spec: { text: "good" } });
  await cluster.settle();
  await cluster.advance("2h");
  assert.deepEqual(reconciles, ["a hello: changed", "a good: changed"]);
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
  await cluster.client.patch(Note, "a", { status: { text: "foreign" } }, {
    namespace: "default",
    subresource: "status",
  });
  await cluster.settle();
  assert.equal(runs, 1);
  await cluster.advance("11m");
  assert.equal(runs, 2);
});

/** Errors, and whether a change of a watched object ends the wait after them. */
const WAITS = [
  { error: () => new TemporaryError("there is no Secret yet"), endsWait: true },
  { error: () => new TemporaryError("there is no Secret yet", { retry: "1h" }), endsWait: true },
  { error: () => new Error("boom"), endsWait: false },
];

for (const { error, endsWait } of WAITS) {
  for (const option of ["names", "map"] as const) {
    const { name } = error();
    Deno.test(`${name}: a change of an object watched by ${option} ${endsWait ? "ends the wait" : "does not end the wait"}`, async () => {
      const reasons: string[] = [];
      const notes = controller(Note, {
        watches: [option === "names" ? watch(Secret, { names: () => "key" }) : watch(Secret, { map: () => "a" })],
        async reconcile(_note, { get, reason }) {
          reasons.push(reason);
          if (await get(Secret, "key") === undefined) throw error();
        },
      });
      await using cluster = await memoryCluster({ parts: { notes }, failures: "collect" });
      await cluster.create(Note, "a", { spec: {} });
      await cluster.advance("210m"); // The backoff has reached its maximum.
      reasons.length = 0;
      await cluster.create(Secret, "key", {});
      await cluster.settle();
      assert.deepEqual(reasons, endsWait ? ["watched changed"] : []);
      await cluster.advance("2h");
      assert.equal(reasons.length, 1);
    });
  }
}

Deno.test("TemporaryError is retried after the delay that it specifies", async () => {
  const { notes, reconciles } = recording((_, { attempt }) => {
    if (attempt === 1) throw new TemporaryError("the database is down", { retry: "30s" });
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.advance("29s");
  assert.deepEqual(reconciles, ["a hello: changed"]);
  await cluster.advance("1s");
  assert.deepEqual(reconciles, ["a hello: changed", "a hello: retried"]);
});

Deno.test("a reconcile that exceeds its timeout is aborted, reported and retried, even if it ignores its signal", async () => {
  const signals: AbortSignal[] = [];
  const { notes, reconciles } = recording((_, { signal }) => {
    signals.push(signal);
    return signals.length === 1 ? new Promise(() => {}) : undefined;
  }, { timeout: "5s" });
  await using cluster = await memoryCluster({ parts: { notes }, failures: "collect" });
  await cluster.create(Note, "a", { spec: {} });
  await until(() => signals.length === 1);
  cluster.clock.step(cluster.clock.now() + 4999);
  assert.equal(signals[0]!.aborted, false);
  cluster.clock.step(cluster.clock.now() + 1);
  await until(async () =>
    (await conditions(cluster)).includes("Ready=False Timeout: The reconcile took longer than 5s")
  );
  assert.equal(signals[0]!.reason.name, "TimeoutError");
  await cluster.settle();
  assert.deepEqual(reconciles, ["a hello: changed", "a hello: retried"]);
  assert.deepEqual(await conditions(cluster), ["Ready=True Reconciled: "]);
});

Deno.test("the passage of time alone triggers no reconcile, since there is no resync by default", async () => {
  const { notes, reconciles } = recording(async (note, context) => {
    await applyText(note, context);
  }, { cleanup() {} });
  await using cluster = await memoryCluster({ parts: { notes } });
  for (const name of ["a", "b", "c"]) await cluster.create(Note, name, { spec: {} });
  await cluster.settle();
  assert.equal(reconciles.length, 3);
  const before = cluster.requests.length;
  await cluster.advance("24h");
  assert.equal(reconciles.length, 3);
  // Watches are reopened from their last version, without a new list.
  const sent = cluster.requests.slice(before).filter(({ userAgent }) => userAgent === "test/0.0.0");
  assert(sent.length > 100, `${sent.length} requests in a day`);
  assert.deepEqual(sent.filter(({ verb, path }) => verb !== "watch" || path.includes("sendInitialEvents")), []);
});
