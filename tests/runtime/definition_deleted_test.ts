/**
 * A CustomResourceDefinition that is deleted and created again: caches, queues and reconciles of
 * its kind end when it is deleted, and start again when it is created.
 */
import assert from "node:assert/strict";
import { controller, operator, PermanentError, requeue, resource, s, watch } from "@op/sdk";
import { ConfigMap, CustomResourceDefinition } from "@op/sdk/kinds";
import { faults, type MemoryCluster, memoryCluster } from "@op/sdk/testing";
import { conditions, Note, recording } from "../fixtures/notes.ts";
import { startProcess } from "./_processes.ts";

const MISSING =
  'Cannot watch Note: the API server does not serve "notes" of demo.example.com/v1. Install its CustomResourceDefinition "notes.demo.example.com"';

function deleteDefinition(cluster: MemoryCluster): Promise<void> {
  return cluster.delete(CustomResourceDefinition, Note.crd!.metadata.name);
}

async function createDefinition(cluster: MemoryCluster): Promise<void> {
  await cluster.client.create(CustomResourceDefinition, Note.crd as never);
}

Deno.test("deleting a definition aborts reconciles of its kind, drops queued ones and empties the cache", async () => {
  let aborted: unknown;
  const { notes, reconciles } = recording(({ metadata }, { signal }) => {
    if (metadata.name === "timed") return requeue("10m");
    if (metadata.name === "failing") throw new Error("boom");
    return new Promise<never>((_, reject) =>
      signal.addEventListener("abort", () => reject(aborted = signal.reason), { once: true })
    );
  });
  const noteCounts: number[] = [];
  const readers = controller(ConfigMap, {
    reads: [Note],
    async reconcile(_, { list }) {
      noteCounts.push((await list(Note)).length);
    },
  });
  await using cluster = await memoryCluster({ parts: { notes, readers }, failures: "collect" });
  for (const name of ["timed", "failing", "running"]) await cluster.create(Note, name, { spec: {} });
  await cluster.advance("1s");
  await cluster.create(ConfigMap, "before", {});
  await cluster.advance("1s");
  await deleteDefinition(cluster);
  await cluster.advance("1s");
  assert.match(String(aborted), /The object was deleted/);
  reconciles.length = 0;
  await cluster.create(ConfigMap, "after", {});
  await cluster.advance("1h");
  assert.deepEqual([noteCounts[0], noteCounts.at(-1)], [3, 0]);
  assert.deepEqual(reconciles, []);
});

Deno.test("a deleted definition is logged once, and its kind is watched at once when it is created again, even without objects", async () => {
  const { notes, reconciles } = recording();
  await using cluster = await memoryCluster({ kinds: [Note] });
  await using process = startProcess(cluster, operator({ name: "notes", parts: { notes }, health: false }));
  const annotations = { "demo.example.com/paused": "true" };
  await cluster.create(Note, "paused", { metadata: { annotations }, spec: {} });
  await cluster.advance("1s");
  const paused = async () => /^op_paused_objects\{.*\} (\d)$/m.exec(await process.running.metrics.text())?.[1];
  assert.equal(await paused(), "1");
  const states: string[] = [];
  const line = () => process.running.readiness().find(({ name }) => name === "watch Note")!;
  await deleteDefinition(cluster);
  for (let minute = 0; minute < 30; minute++) {
    await cluster.advance("1m");
    states.push(line().message);
  }
  assert(states.every((state) => state.startsWith(MISSING)), states.join("\n"));
  assert.equal(await paused(), "0");
  await createDefinition(cluster);
  await cluster.advance("31s");
  assert.equal(line().isReady, true, line().message);
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  assert.deepEqual(reconciles, ["a hello: changed"]);
  const stopped = process.stop();
  await cluster.advance("1m");
  await stopped;
});

Deno.test("retry delays grow while a definition is missing, and start over each time it returns", async () => {
  const { notes } = recording();
  await using cluster = await memoryCluster({ parts: { notes } });
  const watches = () => cluster.sent({ client: "test", kind: Note, verb: "watch" });
  for (let round = 0; round < 3; round++) {
    const from = watches().length;
    await deleteDefinition(cluster);
    await cluster.advance("10m");
    const times = watches().slice(from).map(({ time }) => time);
    assert(times.length >= 10 && times.length <= 40, `${times.length} attempts`);
    assert(times[2]! - times[0]! <= 5000, "the first attempts follow quickly");
    assert(times.at(-1)! - times.at(-2)! >= 20_000, "later attempts are at least 20 s apart");
    await createDefinition(cluster);
    await cluster.advance("1m");
  }
});

/**
 * The history of a deleted object, which an object of the same name must not inherit when the
 * deletion was missed.
 */
const REPLACED: readonly { name: string; first: string; runs: readonly string[] }[] = [
  { name: "that had a PermanentError", first: "never", runs: ["a new: changed 1"] },
  { name: "that was in a backoff", first: "failing", runs: ["a new: changed 1"] },
  { name: "whose reconcile was running", first: "hanging", runs: ["a new: changed 1"] },
  { name: "that was requeued", first: "timed", runs: ["a new: changed 1"] },
];

for (const { name, first, runs } of REPLACED) {
  Deno.test(`an object that replaced one ${name} while the watch was down is reconciled as a new object`, async () => {
    let aborted: unknown;
    const seen: string[] = [];
    const notes = controller(Note, {
      concurrency: 1,
      reconcile({ metadata, spec: { text } }, { reason, attempt, signal }) {
        seen.push(`${metadata.name} ${text}: ${reason} ${attempt}`);
        if (text === "never") throw new PermanentError("never");
        if (text === "failing") throw new Error("boom");
        if (text === "timed") return requeue("10m");
        if (text !== "hanging") return;
        return new Promise<never>((_, reject) =>
          signal.addEventListener("abort", () => reject(aborted = signal.reason), { once: true })
        );
      },
    });
    await using cluster = await memoryCluster({ parts: { notes }, failures: "collect" });
    await cluster.create(Note, "a", { spec: { text: first } });
    await cluster.advance("10s");
    cluster.inject(faults.refused(), { client: "test", kind: Note, verb: "watch", times: 3 });
    cluster.restartServer();
    await deleteDefinition(cluster);
    await createDefinition(cluster);
    await cluster.create(Note, "a", { spec: { text: "new" } });
    cluster.restartServer({ compact: true });
    seen.length = 0;
    await cluster.advance("1h");
    assert.deepEqual(seen, runs);
    if (first === "hanging") assert.match(String(aborted), /The object was deleted/);
    assert.match((await conditions(cluster)).join(), /^Ready=True Reconciled/);
  });
}

const Other = resource({ group: "demo.example.com", version: "v1", kind: "Other", spec: s.object({}) });

Deno.test("another controller's failure does not carry over to an object of the same name under a new definition", async () => {
  const good = controller(Note, { reconcile: () => {} });
  const bad = controller(Note, {
    reads: [Other],
    watches: [watch(Note, { predicate: ({ spec }) => spec.text === "bad" })],
    reconcile() {
      throw new PermanentError("bad text");
    },
  });
  await using cluster = await memoryCluster({ parts: { good, bad }, kinds: [Other] });
  await cluster.create(Note, "a", { spec: { text: "bad" } });
  await cluster.settle();
  assert.match((await conditions(cluster)).join(), /Ready=False/);
  await deleteDefinition(cluster);
  await cluster.advance("1m");
  await createDefinition(cluster);
  await cluster.advance("1m");
  await cluster.create(Note, "a", { spec: { text: "good" } });
  await cluster.settle();
  assert.match((await conditions(cluster)).join(), /^Ready=True Reconciled/);
});
