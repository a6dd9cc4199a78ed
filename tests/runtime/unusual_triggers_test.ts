/**
 * Triggers in unusual cases: invalid reconcile requests, the controller's own kind, and writes of a
 * reconcile that affect other objects.
 */
import assert from "node:assert/strict";
import { access, controller, index, resource, s, source, watch } from "@op/sdk";
import { ConfigMap, Secret } from "@op/sdk/kinds";
import { memoryCluster } from "@op/sdk/testing";
import { Note, until } from "../fixtures/notes.ts";

/** Invalid reconcile requests, which only a program without type checks can return. */
const INVALID = [undefined, null, "", 5, {}, { namespace: "default" }, Promise.resolve("a")];

for (const invalid of INVALID) {
  Deno.test(`an invalid reconcile request, ${Deno.inspect(invalid)}, triggers no reconcile and ends no watch`, async () => {
    const runs: string[] = [];
    const request = invalid as string;
    const notes = controller(Note, {
      indexes: { odd: index(Note, () => request) },
      watches: [
        watch(ConfigMap, { map: ({ data }) => data === undefined ? request : "a" }),
        watch(Secret, { names: () => [request] }),
      ],
      reconcile: ({ metadata }, { reason }) => void runs.push(`${metadata.name}: ${reason}`),
    });
    await using cluster = await memoryCluster({ parts: { notes }, failures: "collect" });
    await cluster.create(Note, "a", { spec: {} });
    await cluster.settle();
    await cluster.create(ConfigMap, "of-a", {});
    await cluster.settle();
    await cluster.create(ConfigMap, "of-all", { data: { text: "hi" } });
    await cluster.settle();
    assert.deepEqual(runs, ["a: changed", "a: watched changed"]);
    assert.deepEqual(cluster.sent({ kind: Secret }), []);
  });
}

Deno.test("a source continues after an invalid reconcile request, and is released when the operator stops", async () => {
  const runs: string[] = [];
  let state = "closed";
  const notes = controller(Note, {
    triggers: [
      source(async function* (signal) {
        state = "open";
        try {
          yield [null as unknown as string, "a"];
          yield { namespace: "default", name: "a" };
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          yield "a";
        } finally {
          state = "released";
        }
      }),
    ],
    reconcile: ({ metadata }, { reason }) => void runs.push(`${metadata.name}: ${reason}`),
  });
  {
    await using cluster = await memoryCluster({ parts: { notes }, failures: "collect" });
    await cluster.create(Note, "a", { spec: {} });
    await cluster.advance("1m");
    assert.deepEqual([runs.sort(), state], [["a: changed", "a: triggered"], "open"]);
  }
  assert.equal(state, "released");
});

const Task = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Task",
  spec: s.object({ after: s.optional(s.string()) }),
  status: s.object({ isDone: s.optional(s.boolean()) }),
});

Deno.test("map of a controller's own kind triggers its other objects, also after the controller's own writes", async () => {
  const runs: string[] = [];
  const tasks = controller(Task, {
    indexes: { byPrevious: index(Task, ({ spec }) => spec.after) },
    watches: [watch(Task, { map: ({ metadata }, { index }) => index("byPrevious", metadata.name) })],
    async reconcile({ metadata, spec }, { get, reason, status }) {
      runs.push(`${metadata.name}: ${reason}`);
      const previous = spec.after === undefined ? undefined : await get(Task, spec.after);
      status({ isDone: spec.after === undefined || previous?.status?.isDone === true });
    },
  });
  await using cluster = await memoryCluster({ parts: { tasks } });
  await cluster.create(Task, "third", { spec: { after: "second" } });
  await cluster.create(Task, "second", { spec: { after: "first" } });
  await cluster.settle();
  runs.length = 0;
  await cluster.create(Task, "first", { spec: {} });
  await cluster.settle();
  assert.deepEqual([...new Set(runs)], ["first: changed", "second: watched changed", "third: watched changed"]);
  const done = (await cluster.list(Task)).map(({ metadata, status }) => `${metadata.name} ${status?.isDone}`);
  assert.deepEqual(done.sort(), ["first true", "second true", "third true"]);
});

Deno.test("a write of one object's reconcile triggers other objects: the owner, those that map returns and those that name it", async () => {
  const runs: string[] = [];
  const notes = controller(Note, {
    owns: [ConfigMap],
    uses: [access(Secret, "patch")],
    watches: [
      watch(ConfigMap, { map: ({ metadata }) => metadata.labels?.reader }),
      watch(Secret, { names: () => "shared" }),
    ],
    async reconcile({ metadata, spec }, { apply, patch, reason }) {
      runs.push(`${metadata.name}: ${reason}`);
      const desired = { metadata: { name: metadata.name, labels: { reader: "reader" } }, data: { text: spec.text } };
      if (metadata.name !== "reader") await apply(ConfigMap, desired);
      if (spec.text === "steal") await patch(ConfigMap, "b", { data: { text: "stolen" } });
      if (spec.text === "share") await patch(Secret, "shared", { data: { key: btoa(metadata.name) } });
    },
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Secret, "shared", {});
  for (const name of ["reader", "a", "b"]) await cluster.create(Note, name, { spec: {} });
  await cluster.settle();

  const after = async (name: string, text: string) => {
    runs.length = 0;
    await cluster.patch(Note, name, { spec: { text } });
    await cluster.settle();
    return [...new Set(runs)].sort();
  };
  assert.deepEqual(await after("a", "two"), ["a: changed", "reader: watched changed"]);
  assert.deepEqual(await after("a", "steal"), ["a: changed", "b: owned changed", "reader: watched changed"]);
  assert.equal((await cluster.get(ConfigMap, "b")).data?.text, "hello", "the owner repairs its child");
  await after("a", "calm");
  assert.deepEqual(await after("b", "share"), ["a: watched changed", "b: changed", "reader: watched changed"]);
});

Deno.test("predicate on a controller's own kind filters new objects and those found at start, but no cleanups", async () => {
  const runs: string[] = [];
  const cleaned: string[] = [];
  const notes = controller(Note, {
    watches: [watch(Note, { predicate: ({ spec }) => spec.text === "mine" })],
    reconcile: ({ metadata }) => void runs.push(metadata.name),
    cleanup: ({ metadata }) => void cleaned.push(metadata.name),
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  for (const [name, text] of [["mine", "mine"], ["theirs", "theirs"], ["given", "mine"]] as const) {
    await cluster.create(Note, name, { spec: { text } });
  }
  await cluster.settle();
  assert.deepEqual(runs.sort(), ["given", "mine"]);
  await cluster.patch(Note, "given", { spec: { text: "theirs" } });
  await cluster.settle();
  runs.length = 0;
  await cluster.restart();
  await cluster.settle();
  assert.deepEqual(runs, ["mine"]);
  for (const name of ["given", "theirs"]) await cluster.delete(Note, name);
  await cluster.settle();
  assert.deepEqual(cleaned, ["given"]);
});

Deno.test("low-priority changes of a controller's own kind are reconciled after other triggers", async () => {
  const runs: string[] = [];
  const gate = Promise.withResolvers<void>();
  const notes = controller(Note, {
    concurrency: 1,
    watches: [watch(Note, { priority: "low" }), watch(ConfigMap, { map: ({ metadata }) => metadata.name })],
    async reconcile({ metadata: { name } }, { reason }) {
      runs.push(`${name}: ${reason}`);
      if (name === "slow") await gate.promise;
    },
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  for (const name of ["a", "b"]) await cluster.create(Note, name, { spec: {} });
  await cluster.settle();
  runs.length = 0;
  await cluster.create(Note, "slow", { spec: {} });
  await until(() => runs.length === 1);
  await cluster.patch(Note, "a", { spec: { text: "two" } });
  await cluster.create(ConfigMap, "b", {});
  // Waits until both are in the queue. Only then does the worker become free.
  let turns = 0;
  await until(() => ++turns > 100);
  gate.resolve();
  await cluster.settle();
  assert.deepEqual(runs, ["slow: changed", "b: watched changed", "a: changed"]);
});
