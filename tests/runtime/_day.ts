/**
 * Runs an operator for a day of virtual time, with resyncs, requeues, failures, changes, and
 * watches that end and break. Prints the live heap after each hour. Needs V8's gc().
 */
import { every, requeue } from "@op/sdk";
import { Event } from "../../src/kinds/events_v1.gen.ts";
import { type CodeFailure, type LogLine, memoryCluster, type RequestRecord } from "@op/sdk/testing";
import { applyText, Note, recording } from "../fixtures/notes.ts";

const OBJECTS = 100;
const { gc } = globalThis as unknown as { gc: () => void };

const { notes, reconciles } = recording(async (note, context) => {
  const number = Number(note.metadata.name.slice(1));
  if (number % 10 === 0) throw new Error(`Failure of ${note.metadata.name}`);
  context.status({ text: note.spec.text });
  context.events.normal("Seen", note.spec.text);
  await applyText(note, context);
  return number % 2 === 0 ? requeue("7m") : undefined;
}, { triggers: [every("10m")], async cleanup() {} });

await using cluster = await memoryCluster({ parts: { notes }, maxTurns: 1e6, failures: "collect" });
for (let i = 0; i < OBJECTS; i++) await cluster.create(Note, `n${i}`, { spec: { text: "0" } });
let total = 0;
for (let hour = 1; hour <= 24; hour++) {
  for (let i = 1; i < OBJECTS; i += 9) {
    await cluster.patch(Note, `n${i}`, { spec: { text: String(hour) } });
  }
  await cluster.delete(Note, `n${hour % OBJECTS}`);
  // Compacts the server's history and deletes Events after an hour, as a server does, since both
  // would grow in this process.
  cluster.restartServer({ downFor: "10s", compact: true });
  await cluster.advance("1h");
  for (const { metadata } of await cluster.list(Event)) await cluster.delete(Event, metadata.name);
  await cluster.create(Note, `n${hour % OBJECTS}`, { spec: { text: "0" } });
  await cluster.advance("1s");
  // The cluster records these for tests, and would grow.
  (cluster.requests as RequestRecord[]).length = 0;
  (cluster.logged as LogLine[]).length = 0;
  (cluster.failures as CodeFailure[]).length = 0;
  total += reconciles.length;
  reconciles.length = 0;
  gc();
  console.log(JSON.stringify({ hour, bytes: Deno.memoryUsage().heapUsed, runs: total }));
}
