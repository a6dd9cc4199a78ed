/** Finalizers, cleanup, and reconciles of objects that are being deleted. */
import assert from "node:assert/strict";
import { operator, type ReconcileResult, requeue, TemporaryError } from "@op/sdk";
import { type MemoryCluster, memoryCluster } from "@op/sdk/testing";
import { startOperator } from "../../src/operator/running.ts";
import { conditions, FINALIZER, Note, recording, until } from "../fixtures/notes.ts";

Deno.test("the finalizer is added before the first reconcile, and removed after cleanup when the object is deleted", async () => {
  const cleaned: string[] = [];
  const seen: (readonly string[] | undefined)[] = [];
  const { notes, reconciles } = recording(({ metadata }) => void seen.push(metadata.finalizers), {
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
  assert.equal(reconciles.length, 1, "a deleted object is not reconciled");
});

Deno.test("an object remains while its cleanup fails or requeues, and other finalizers stay", async () => {
  const outcomes: (() => ReconcileResult)[] = [
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
  const remaining = (await cluster.get(Note, "a")).metadata.finalizers;
  assert.deepEqual(remaining?.toSorted(), [FINALIZER, "other.example.com/x"]);
  await cluster.advance("1m");
  assert.deepEqual((await cluster.get(Note, "a")).metadata.finalizers, ["other.example.com/x"]);
  await cluster.patch(Note, "a", { metadata: { finalizers: [] } });
  await cluster.settle();
  assert.equal(await cluster.exists(Note, "a"), false);
});

Deno.test("a finalizer of an earlier version that had a cleanup is removed", async (t) => {
  await t.step("from an object that is not being deleted", async () => {
    const { notes, reconciles } = recording();
    await using cluster = await memoryCluster({ parts: { notes } });
    await cluster.create(Note, "a", { metadata: { finalizers: [FINALIZER, "other.example.com/x"] }, spec: {} });
    await cluster.settle();
    assert.deepEqual((await cluster.get(Note, "a")).metadata.finalizers, ["other.example.com/x"]);
    assert.equal(reconciles.length, 1);
  });
  await t.step("from an object that is being deleted", async () => {
    const { notes, reconciles } = recording();
    await using cluster = await memoryCluster({ kinds: [Note] });
    await cluster.create(Note, "a", { metadata: { finalizers: [FINALIZER] }, spec: {} });
    await cluster.delete(Note, "a");
    const op = operator({ name: "test", parts: { notes } });
    await using _ = startOperator(op, { connection: cluster.connection, clock: cluster.clock });
    await until(async () => !(await cluster.exists(Note, "a")));
    assert.equal(reconciles.length, 0);
  });
});

/** The finalizer of a controller that a new version of the operator does not have. */
const REMOVED = "demo.example.com/test.removed";
/** Finalizers of another operator, "test-b", and of no operator. */
const FOREIGN = ["demo.example.com/test-b.removed", "demo.example.com/testing"];

Deno.test("a removed controller's finalizer is removed by another controller of the same kind", async (t) => {
  const finalizersOf = async (cluster: MemoryCluster) => (await cluster.get(Note, "a")).metadata.finalizers?.toSorted();
  for (const hasCleanup of [false, true]) {
    await t.step(
      `from an object that is not being deleted, by one ${hasCleanup ? "with" : "without"} a cleanup`,
      async () => {
        const { notes, reconciles } = recording(undefined, hasCleanup ? { cleanup() {} } : {});
        await using cluster = await memoryCluster({ parts: { notes } });
        await cluster.create(Note, "a", { metadata: { finalizers: [REMOVED, ...FOREIGN] }, spec: {} });
        await cluster.settle();
        assert.deepEqual(await finalizersOf(cluster), [...FOREIGN, ...hasCleanup ? [FINALIZER] : []].toSorted());
        assert.equal(reconciles.length, 1);
      },
    );
    await t.step(
      `from an object that is being deleted, by one ${hasCleanup ? "with" : "without"} a cleanup`,
      async () => {
        const cleaned: string[] = [];
        const { notes } = recording(
          undefined,
          hasCleanup ? { cleanup: ({ metadata }) => void cleaned.push(metadata.name) } : {},
        );
        await using cluster = await memoryCluster({ kinds: [Note] });
        await cluster.create(Note, "a", { metadata: { finalizers: [REMOVED] }, spec: {} });
        await cluster.delete(Note, "a");
        const op = operator({ name: "test", parts: { notes } });
        await using _ = startOperator(op, { connection: cluster.connection, clock: cluster.clock });
        await until(async () => !(await cluster.exists(Note, "a")));
        assert.deepEqual(cleaned, hasCleanup ? ["a"] : []);
      },
    );
  }
  await t.step("the finalizers of two controllers of one kind both stay", async () => {
    const { notes } = recording(undefined, { cleanup() {} });
    const { notes: more } = recording(undefined, { cleanup() {}, finalizer: "demo.example.com/test.named" });
    await using cluster = await memoryCluster({ parts: { notes, more } });
    await cluster.create(Note, "a", { metadata: { finalizers: [REMOVED] }, spec: {} });
    await cluster.settle();
    assert.deepEqual(await finalizersOf(cluster), ["demo.example.com/test.named", FINALIZER]);
    await cluster.delete(Note, "a");
    await cluster.settle();
    assert.equal(await cluster.exists(Note, "a"), false);
  });
});

Deno.test("an object is not reconciled before its finalizer is added, even when another client writes first", async () => {
  const { notes, reconciles } = recording(undefined, { cleanup() {} });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.patch(Note, "a", { metadata: { finalizers: ["other.example.com/x"] } });
  await cluster.settle();
  const { metadata } = await cluster.get(Note, "a");
  assert.deepEqual(metadata.finalizers?.toSorted(), [FINALIZER, "other.example.com/x"]);
  assert(reconciles.length >= 1);
});

Deno.test("deleting an object aborts the signal of its reconcile", async (t) => {
  for (const [name, cleanup] of [["without cleanup", undefined], ["with cleanup", () => {}]] as const) {
    await t.step(name, async () => {
      let signal: AbortSignal | undefined;
      const { notes, reconciles } = recording((_, context) => {
        signal = context.signal;
        return new Promise((_, reject) => signal!.addEventListener("abort", () => reject(signal!.reason)));
      }, cleanup ? { cleanup } : {});
      await using cluster = await memoryCluster({ parts: { notes } });
      await cluster.create(Note, "a", { spec: {} });
      await until(() => reconciles.length === 1);
      assert.equal(signal?.aborted, false);
      await cluster.delete(Note, "a");
      await cluster.settle();
      assert.equal(signal?.aborted, true);
      assert.equal(await cluster.exists(Note, "a"), false);
      assert.equal(reconciles.length, 1);
    });
  }
});
