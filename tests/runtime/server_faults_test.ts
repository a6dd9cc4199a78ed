/** Faults of the API server and of the network: an operator loses no change, and retries slowly. */
import assert from "node:assert/strict";
import { controller, operator, PermanentError, requeue, resource, s } from "@op/sdk";
import { ConfigMap, CustomResourceDefinition } from "@op/sdk/kinds";
import { type Fault, faults, memoryCluster } from "@op/sdk/testing";
import type { MemoryCluster, RequestRecord } from "@op/sdk/testing";
import { startProcess } from "./_processes.ts";
import { applyText, Note, recording, until } from "../fixtures/notes.ts";

const COUNT = 50;

async function createNotes(cluster: MemoryCluster, count = COUNT): Promise<void> {
  for (let i = 0; i < count; i++) await cluster.create(Note, `n${i}`, { spec: { text: "0" } });
}

/** Asserts that all objects are as desired, and that the operator is idle. */
async function assertReconciled(cluster: MemoryCluster): Promise<void> {
  const [notes, maps] = [await cluster.list(Note), await cluster.list(ConfigMap)];
  const texts = new Map(maps.map(({ metadata, data }) => [metadata.name, data?.text]));
  for (const { metadata, spec, status } of notes) {
    assert.equal(texts.get(metadata.name), spec.text, metadata.name);
    const ready = status?.conditions?.find(({ type }) => type === "Ready");
    assert.deepEqual([ready?.status, ready?.observedGeneration], ["True", metadata.generation], metadata.name);
  }
  // Other requests are normal for an idle operator: it reopens watches and writes Event series.
  const isWork = ({ verb, resource }: RequestRecord): boolean => verb !== "watch" && resource !== "events";
  const before = cluster.sent({ client: "test", where: isWork }).length;
  await cluster.advance("10m");
  assert.equal(cluster.sent({ client: "test", where: isWork }).length, before, "the operator is idle");
}

Deno.test("an operator loses none of 2,000 changes while its server goes down ten times", async () => {
  await using cluster = await memoryCluster({ parts: { notes: recording(applyText).notes } });
  await createNotes(cluster);
  for (let change = 1; change <= 2000; change++) {
    await cluster.patch(Note, `n${change % COUNT}`, { spec: { text: String(change) } });
    if (change % 200 === 100) {
      // Every restart breaks the connections. Every other one also compacts the history.
      cluster.restartServer({ compact: change % 400 === 100 });
    }
    if (change % 10 === 0) await cluster.advance("50ms");
  }
  await cluster.advance("2m");
  await assertReconciled(cluster);
});

Deno.test("a watch that breaks while the history is compacted lists again, and finds changes and deletions", async () => {
  const { notes, reconciles } = recording(applyText);
  await using cluster = await memoryCluster({ parts: { notes } });
  await createNotes(cluster, 3);
  await cluster.settle();
  reconciles.length = 0;
  cluster.restartServer({ downFor: "30s" });
  await cluster.advance("1s");
  // The server is down for the operator alone, so these writes happen without it.
  cluster.restartServer();
  await cluster.delete(Note, "n0");
  await cluster.create(Note, "n3", { spec: { text: "new" } });
  await cluster.patch(Note, "n1", { spec: { text: "other" } });
  cluster.restartServer({ downFor: "30s", compact: true });
  await cluster.advance("2m");
  assert.deepEqual(reconciles.sort(), ["n1 other: changed", "n3 new: changed"]);
  const lists = cluster.sent({ kind: Note, where: ({ path }) => path.includes("sendInitialEvents") });
  assert.equal(lists.length, 2);
  await assertReconciled(cluster);
});

/** Faults that the test injects into every third write. */
const WRITE_FAULTS: readonly { name: string; fault: Fault }[] = [
  { name: "409 on every third write", fault: faults.conflict() },
  { name: "a response lost after every third write", fault: faults.responseLost() },
  { name: "a refused connection at every third write", fault: faults.refused() },
  { name: "500 on every third write", fault: faults.status(500) },
  { name: "429 on every third write", fault: faults.tooManyRequests("2s") },
];

for (const { name, fault } of WRITE_FAULTS) {
  Deno.test(`an operator completes its work despite ${name}`, async () => {
    const { notes, reconciles } = recording(applyText, { async cleanup() {} });
    await using cluster = await memoryCluster({ parts: { notes } });
    let count = 0;
    const isWrite = ({ method }: { method: string }): boolean => method !== "GET" && ++count % 3 === 0;
    using injected = cluster.inject(fault, { client: "test", times: 10_000, where: isWrite });
    await createNotes(cluster);
    await cluster.advance("5m");
    for (let i = 0; i < COUNT; i += 2) await cluster.patch(Note, `n${i}`, { spec: { text: "1" } });
    for (let i = 1; i < COUNT; i += 2) await cluster.delete(Note, `n${i}`);
    await cluster.advance("5m");
    assert.equal((await cluster.list(Note)).length, COUNT / 2);
    await assertReconciled(cluster);
    assert(injected.hits.length > COUNT, `${injected.hits.length} faults`);
    assert(reconciles.length < 10 * COUNT, `${reconciles.length} reconciles`);
  });
}

Deno.test("during a storm of 429 responses each request is retried after its Retry-After, and not before", async () => {
  const { notes, reconciles } = recording(applyText);
  await using cluster = await memoryCluster({ parts: { notes } });
  await createNotes(cluster);
  await cluster.settle();
  const storm = cluster.inject(faults.tooManyRequests("5s"), { client: "test", times: 1e6 });
  cluster.restartServer();
  const before = cluster.requests.length;
  for (let i = 0; i < COUNT; i++) await cluster.patch(Note, `n${i}`, { spec: { text: "1" } });
  reconciles.length = 0;
  await cluster.advance("1m");
  const sent = cluster.requests.slice(before).filter(({ userAgent }) => userAgent === "test/0.0.0");
  // The operator has two watches. Each is retried at most once in five seconds.
  assert(sent.length <= 2 * 13, `${sent.length} requests`);
  storm[Symbol.dispose]();
  await cluster.advance("2m");
  assert.equal(reconciles.length, COUNT);
  await assertReconciled(cluster);
});

for (const code of [429, 503]) {
  Deno.test(`a write that the server defers with ${code} is retried after its Retry-After, and the reconcile continues`, async () => {
    const { notes, reconciles } = recording(applyText);
    await using cluster = await memoryCluster({ parts: { notes } });
    const answer = (): Response => new Response("Later\n", { status: code, headers: { "retry-after": "7" } });
    cluster.inject({ name: "deferred", respond: answer }, { client: "test", kind: ConfigMap, verb: "patch", times: 2 });
    await cluster.create(Note, "a", { spec: {} });
    await cluster.advance("1m");
    const [first, ...later] = cluster.sent({ client: "test", kind: ConfigMap, verb: "patch" });
    assert.deepEqual(later.map(({ time }) => time - first!.time), [7000, 14_000]);
    assert.equal(reconciles.length, 1, "the reconcile waited for the retries");
    await assertReconciled(cluster);
  });
}

Deno.test("a silent stream is detected within 35 s of an event that it did not deliver", async () => {
  const { notes, reconciles } = recording(applyText);
  await using cluster = await memoryCluster({ parts: { notes } });
  await createNotes(cluster, 1);
  await cluster.settle();
  reconciles.length = 0;
  cluster.inject(faults.watchSilent(), { kind: Note });
  await cluster.patch(Note, "n0", { spec: { text: "1" } });
  await cluster.advance("29s");
  assert.deepEqual(reconciles, []);
  await cluster.advance("6s");
  assert.deepEqual(reconciles, ["n0 1: changed"]);
});

Deno.test("a stream that becomes silent after bookmarks is detected within 75 s", async () => {
  const { notes, reconciles } = recording(applyText);
  await using cluster = await memoryCluster({ parts: { notes } });
  await createNotes(cluster, 1);
  await cluster.advance("3m");
  reconciles.length = 0;
  cluster.inject(faults.watchSilent(), { kind: Note });
  await cluster.patch(Note, "n0", { spec: { text: "1" } });
  await cluster.advance("76s");
  assert.deepEqual(reconciles, ["n0 1: changed"]);
});

Deno.test("an operator waits while its definition is deleted, and reconciles its objects when it is created again", async () => {
  const { notes, reconciles } = recording(applyText);
  await using cluster = await memoryCluster({ parts: { notes } });
  await createNotes(cluster, 3);
  await cluster.settle();
  await cluster.delete(CustomResourceDefinition, Note.crd!.metadata.name);
  await cluster.advance("5m");
  reconciles.length = 0;
  const before = cluster.sent({ client: "test", kind: Note }).length;
  await cluster.advance("5m");
  assert(cluster.sent({ client: "test", kind: Note }).length - before <= 20, "more than 20 requests in five minutes");

  await cluster.client.create(CustomResourceDefinition, Note.crd as never);
  await createNotes(cluster, 2);
  await cluster.advance("1m");
  assert.deepEqual(reconciles.sort(), ["n0 0: changed", "n1 0: changed"]);
  await assertReconciled(cluster);
});

const Leaf = resource({ group: "demo.example.com", version: "v1", kind: "Leaf", spec: s.object({ text: s.string() }) });

Deno.test("objects that failed while the definition of an owned kind was deleted are retried soon after it is created again, whatever their backoff", async () => {
  const runs: string[] = [];
  const notes = controller(Note, {
    owns: [Leaf],
    async reconcile({ metadata: { name }, spec: { text } }, { apply, reason }) {
      runs.push(`${name}: ${reason}`);
      if (text === "never") throw new PermanentError("never");
      await apply(Leaf, { metadata: { name }, spec: { text } });
    },
  });
  await using cluster = await memoryCluster({ parts: { notes }, kinds: [Leaf], failures: "collect" });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.create(Note, "wrong", { spec: { text: "never" } });
  await cluster.settle();
  await cluster.delete(CustomResourceDefinition, Leaf.crd!.metadata.name);
  await cluster.advance("1h");
  runs.length = 0;
  await cluster.client.create(CustomResourceDefinition, Leaf.crd as never);
  await cluster.advance("45s");
  assert.deepEqual(runs, ["a: retried"]);
  assert.equal((await cluster.get(Leaf, "a")).spec.text, "hello");
  runs.length = 0;
  await cluster.delete(Leaf, "a");
  await cluster.settle();
  assert.deepEqual(runs, ["a: owned changed"], "the owned kind is watched again");
});

for (const [name, jump] of [["back", -86_400_000], ["forward", 86_400_000]] as const) {
  Deno.test(`an operator whose machine's clock is set ${name} by a day reconciles on time`, async () => {
    const runs: string[] = [];
    const { notes } = recording(({ metadata }) => {
      runs.push(metadata.name);
      if (metadata.name === "failing" && runs.length < 5) throw new Error("not yet");
      return metadata.name === "timed" ? requeue("10m") : undefined;
    });
    await using cluster = await memoryCluster({ kinds: [Note] });
    await using process = startProcess(cluster, operator({ name: "clocks", parts: { notes }, health: false }));
    await cluster.create(Note, "timed", { spec: {} });
    await cluster.create(Note, "failing", { spec: {} });
    await until(() => runs.length >= 2);
    process.setClockOffset(jump);
    await cluster.advance("9m");
    assert.equal(runs.filter((name) => name === "timed").length, 1);
    assert.equal(runs.filter((name) => name === "failing").length, 4);
    await cluster.advance("2m");
    assert.equal(runs.filter((name) => name === "timed").length, 2);
    const stopped = process.stop();
    await cluster.advance("1m");
    await stopped;
  });
}
