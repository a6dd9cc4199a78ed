/** Watch streams with invalid, repeated and reordered lines: no change is lost or undone. */
import assert from "node:assert/strict";
import { operator } from "@op/sdk";
import { ConfigMap } from "@op/sdk/kinds";
import { type MemoryCluster, memoryCluster } from "@op/sdk/testing";
import type { Connection } from "../../src/kube/connection.ts";
import { startOperator } from "../../src/operator/running.ts";
import { applyText, Note, recording } from "../fixtures/notes.ts";

/** Starts an operator. The test can insert lines into its watch streams of notes. */
async function startWithInsertedLines() {
  const stack = new AsyncDisposableStack();
  const cluster = stack.use(await memoryCluster({ kinds: [Note] }));
  const streams = new Set<ReadableStreamDefaultController<Uint8Array>>();
  let opened = 0;
  const connection: Connection = {
    url: "http://memory.cluster",
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      const response = await cluster.fetch(request);
      // A short watch that fetches missed events is not a stream.
      const isStream = searchParams.get("watch") === "true" && searchParams.get("timeoutSeconds") !== "1";
      if (!pathname.endsWith("/notes") || !isStream || response.body === null) return response;
      opened++;
      return new Response(insertable(response.body, streams), response);
    },
    close() {},
  };
  const { notes, reconciles } = recording(applyText);
  const op = operator({ name: "test", parts: { notes }, health: false });
  const running = startOperator(op, { connection, clock: cluster.clock, random: () => 0.5, checkAccess: false });
  stack.defer(async () => {
    const ended = running[Symbol.asyncDispose]();
    await cluster.advance("1m");
    await ended;
  });
  for (const name of ["a", "b"]) await cluster.create(Note, name, { spec: { text: "one" } });
  await cluster.advance("1s");
  for (const name of ["a", "b"]) await cluster.patch(Note, name, { spec: { text: "two" } });
  await cluster.advance("1s");
  assert.equal(reconciles.length, 4);
  reconciles.length = 0;
  return {
    cluster,
    reconciles,
    opened: () => opened,
    /** Inserts lines into all open streams. */
    async insert(...lines: readonly (string | object)[]) {
      const text = lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("");
      for (const stream of streams) stream.enqueue(new TextEncoder().encode(text));
      await cluster.advance("1s");
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Copies a stream, and adds the controller of the copy to a set while it is open. */
function insertable(
  body: ReadableStream<Uint8Array>,
  streams: Set<ReadableStreamDefaultController<Uint8Array>>,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let own: ReadableStreamDefaultController<Uint8Array>;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      streams.add(own = controller);
      (async () => {
        for (let next = await reader.read(); !next.done; next = await reader.read()) controller.enqueue(next.value);
        if (streams.delete(controller)) controller.close();
      })().catch((error) => streams.delete(controller) && controller.error(error));
    },
    async cancel(reason) {
      streams.delete(own);
      await reader.cancel(reason);
    },
  });
}

/**
 * Asserts that each note has its desired children, and that the next change is handled as usual.
 */
async function assertWorking(cluster: MemoryCluster, reconciles: string[]): Promise<void> {
  reconciles.length = 0;
  await cluster.patch(Note, "a", { spec: { text: "three" } });
  await cluster.advance("1m");
  assert.deepEqual(reconciles, ["a three: changed"]);
  const texts = await Promise.all(["a", "b"].map(async (name) => (await cluster.get(ConfigMap, name)).data?.text));
  assert.deepEqual(texts, ["three", "two"]);
}

Deno.test("repeated events in any order, and deletions of unknown objects, trigger no reconcile and undo no change", async () => {
  await using run = await startWithInsertedLines();
  const { cluster, reconciles, insert, opened } = run;
  const a = await cluster.get(Note, "a");
  const now = Number(a.metadata.resourceVersion);
  const at = (version: number, metadata: object = {}) => ({
    ...a,
    spec: { text: "one" },
    metadata: { ...a.metadata, ...metadata, resourceVersion: String(version) },
  });
  const ghost = { name: "ghost", uid: "ghost" };
  await insert(
    { type: "MODIFIED", object: at(now - 1) },
    { type: "ADDED", object: at(now - 5) },
    { type: "DELETED", object: at(now - 3) },
    { type: "ADDED", object: at(now - 2, ghost) },
    { type: "DELETED", object: at(now - 4, ghost) },
    { type: "MODIFIED", object: at(now - 4) },
  );
  await cluster.advance("10m");
  assert.deepEqual(reconciles, []);
  assert.deepEqual((await cluster.list(ConfigMap)).filter(({ data }) => data?.text === "one"), []);
  // A new event about an object that was deleted before the operator saw it.
  await insert({ type: "DELETED", object: at(now, { name: "ghost", uid: "ghost" }) });
  assert.deepEqual(reconciles, []);
  const before = opened();
  await assertWorking(cluster, reconciles);
  assert.equal(opened(), before, "the streams stayed open");
});

const INVALID_LINES: readonly { name: string; line: string | object }[] = [
  { name: "that is not JSON", line: "<html>502 Bad Gateway</html>" },
  { name: "that is null", line: "null" },
  { name: "without an object", line: { type: "ADDED" } },
  {
    name: "of an object without uid",
    line: { type: "ADDED", object: { metadata: { name: "b", namespace: "default", resourceVersion: "999" } } },
  },
  {
    name: "of a deletion without a version",
    line: { type: "DELETED", object: { metadata: { name: "b", namespace: "default", uid: "b" } } },
  },
];

for (const { name, line } of INVALID_LINES) {
  Deno.test(`a line ${name} ends only its own stream, and the next stream resumes from the same version after a delay`, async () => {
    await using run = await startWithInsertedLines();
    const { cluster, reconciles, insert, opened } = run;
    const before = opened();
    await insert(line);
    assert.equal(opened(), before + 1);
    assert.deepEqual(reconciles, []);
    // Repeated invalid lines must not cause a busy loop.
    for (let i = 0; i < 10; i++) await insert(line);
    assert(opened() - before <= 11, `${opened() - before} streams in 11 s`);
    await assertWorking(cluster, reconciles);
  });
}
