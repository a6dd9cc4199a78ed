/** The client-side rate limit of a running operator, in virtual time. */
import assert from "node:assert/strict";
import { operator } from "@op/sdk";
import { ConfigMap } from "@op/sdk/kinds";
import { memoryCluster } from "@op/sdk/testing";
import { startOperator } from "../../src/operator/running.ts";
import { applyText, Note, recording } from "../fixtures/notes.ts";

const COUNT = 60;
const QPS = 1;

Deno.test("an operator with a client-side rate limit processes a backlog at that rate, and keeps its Lease meanwhile", async () => {
  await using stack = new AsyncDisposableStack();
  const cluster = stack.use(await memoryCluster({ kinds: [Note] }));
  for (let i = 0; i < COUNT; i++) await cluster.create(Note, `note-${i}`, { spec: { text: "one" } });
  const lines: string[] = [];
  const op = operator({
    name: "test",
    parts: { notes: recording(applyText, { concurrency: COUNT }).notes },
    health: false,
    leaderElection: true,
  });
  const { connection, clock } = cluster;
  const running = startOperator(op, {
    connection: { ...connection, url: "http://memory.cluster" },
    clock,
    random: () => 0.5,
    checkAccess: false,
    rateLimit: { qps: QPS, burst: 5 },
    onLog: ({ message }) => lines.push(message),
  });
  stack.defer(async () => {
    const ended = running[Symbol.asyncDispose]();
    await cluster.advance("5m");
    await ended;
  });

  // The backlog takes more than a minute, and the Lease expires after 15 s without a renewal.
  await cluster.advance("1m");
  assert.equal(running.isLeading, true);
  assert.deepEqual(lines.filter((line) => /^(Leadership|Lease)/.test(line)), ["Leadership gained"]);
  const written = (await cluster.list(ConfigMap)).length;
  assert(written > 20 && written <= 5 + 60 * QPS, `${written} ConfigMaps after a minute`);
  assert(running.waiting > 0);

  await cluster.advance("4m");
  assert.equal((await cluster.list(ConfigMap)).length, COUNT);
  const delayed = lines.filter((line) => line === "Requests delayed by the client-side rate limit").length;
  assert(delayed >= 1 && delayed <= 5, `${delayed} lines in five minutes`);
});
