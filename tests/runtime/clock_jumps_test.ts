/**
 * Wall clocks that jump by hours. Delays, counters and rate limits follow elapsed time instead.
 */
import assert from "node:assert/strict";
import { controller, operator, requeue, TemporaryError } from "@op/sdk";
import { ConfigMap, Event, Lease } from "@op/sdk/kinds";
import { faults, memoryCluster } from "@op/sdk/testing";
import { applyText, Note } from "../fixtures/notes.ts";
import { startProcess } from "./_processes.ts";

const HOUR = 3_600_000;
const MINUTES = 90;

/**
 * Runs an operator for {@linkcode MINUTES} with objects and faults that make it wait in every way.
 *
 * @param offsetAt Returns the offset of its wall clock in a minute, in milliseconds.
 * @returns Its requests with their times, and its metrics.
 */
async function requestsWith(offsetAt: (minute: number) => number) {
  let events = 0;
  const notes = controller(Note, {
    owns: [ConfigMap],
    async reconcile(note, context) {
      const { metadata: { name } } = note;
      if (name === "timed") return requeue("7m");
      if (name === "failing") throw new Error("boom");
      if (name === "late") throw new TemporaryError("not yet", { retry: "11m" });
      if (name === "repeating") {
        context.events.normal("Seen", "again");
        return requeue("50s");
      }
      if (name === "talking") {
        for (let i = 0; i < 10; i++) context.events.normal("Counted", String(events++));
        return requeue("2m");
      }
      return void await applyText(note, context);
    },
  });
  await using cluster = await memoryCluster({ kinds: [Note] });
  const start = cluster.clock.now();
  await using process = startProcess(cluster, operator({ name: "jumps", parts: { notes }, health: false }));
  for (const name of ["timed", "failing", "late", "repeating", "talking", "plain"]) {
    await cluster.create(Note, name, { spec: {} });
  }
  for (let minute = 0; minute < MINUTES; minute++) {
    process.setClockOffset(offsetAt(minute));
    const text = { spec: { text: String(minute) } };
    if (minute % 10 === 5) cluster.inject(faults.watchSilent(), { kind: Note });
    if (minute % 10 === 6) await cluster.patch(Note, "plain", text);
    if (minute % 10 === 8) {
      cluster.inject(faults.status(500), { client: "jumps", kind: ConfigMap, verb: "patch", times: 2 });
    }
    if (minute % 20 === 9) {
      // A server that is shutting down ends each watch at once.
      cluster.inject({ name: "ended at once", respond: () => new Response("") }, {
        client: "jumps",
        kind: ConfigMap,
        verb: "watch",
        times: 3,
      });
      cluster.inject(faults.watchCut(), { client: "jumps", kind: ConfigMap });
    }
    if (minute === 40) cluster.inject(faults.status(403), { client: "jumps", kind: Event, times: 1 });
    await cluster.advance("1m");
  }
  const sent = cluster.requests.filter(({ userAgent }) => userAgent.startsWith("jumps/")).map((
    { time, method, path },
  ) => `${(time - start) / 1000} s ${method} ${path.replace(/\.[0-9a-f]{10,}/, "")}`);
  const stopped = process.stop();
  await cluster.advance("1m");
  await stopped;
  return { sent: sent.sort(), metrics: await process.running.metrics.text() };
}

const JUMPS: readonly { name: string; offsetAt: (minute: number) => number }[] = [
  { name: "back by three hours", offsetAt: (minute) => minute < 15 ? 0 : -3 * HOUR },
  { name: "forward by three hours", offsetAt: (minute) => minute < 15 ? 0 : 3 * HOUR },
  { name: "back and forth", offsetAt: (minute) => [0, -5, 3, -1][minute % 4]! * HOUR },
];

Deno.test("an operator whose wall clock jumps sends the same requests at the same times, with the same metrics", async (t) => {
  const usual = await requestsWith(() => 0);
  assert(usual.sent.length > 200, `${usual.sent.length} requests`);
  for (const { name, offsetAt } of JUMPS) {
    await t.step(name, async () => {
      const { sent, metrics } = await requestsWith(offsetAt);
      assert.deepEqual(sent.filter((request) => !usual.sent.includes(request)), []);
      assert.deepEqual(usual.sent.filter((request) => !sent.includes(request)), []);
      assert.equal(metrics, usual.metrics);
    });
  }
});

const notes = controller(Note, { reconcile() {} });
const elected = operator({ name: "jumps", parts: { notes }, health: false, leaderElection: true });

Deno.test("a leader whose clock jumps past its deadline stops leading at once, because its machine may have slept", async () => {
  await using cluster = await memoryCluster({ kinds: [Note] });
  await using process = startProcess(cluster, elected);
  await cluster.advance("3s");
  assert.equal(process.running.isLeading, true);
  process.setClockOffset(8000);
  assert.equal(process.running.isLeading, true, "ten seconds have not passed since the last renewal began");
  process.setClockOffset(11_000);
  assert.equal(process.running.isLeading, false);
  await cluster.advance("5s");
  assert.equal(process.running.isLeading, true, "the Lease still names it, so it leads again");
  await stop(process, cluster);
});

Deno.test("a leader whose clock is set back stops at its deadline, and a standby whose clock is set forward waits until the Lease expires", async () => {
  await using cluster = await memoryCluster({ kinds: [Note] });
  await using first = startProcess(cluster, elected, { host: "first" });
  await cluster.advance("1s");
  await using second = startProcess(cluster, elected, { host: "second" });
  await cluster.advance("10s");
  assert.deepEqual([first.running.isLeading, second.running.isLeading], [true, false]);
  first.setConnected(false);
  first.setClockOffset(-HOUR);
  await cluster.advance("9s");
  second.setClockOffset(HOUR);
  await cluster.advance("2s");
  assert.deepEqual([first.running.isLeading, second.running.isLeading], [false, false], "15 s have not passed");
  await cluster.advance("8s");
  assert.equal(second.running.isLeading, true);
  const { renewTime } = (await cluster.get(Lease, "jumps")).spec ?? {};
  assert.match(
    renewTime ?? "",
    /^2030-01-01T01:00:/,
    "renewTime is the time of the leader's own clock, which other replicas ignore",
  );
  first.setConnected(true);
  await stop(first, cluster);
  await stop(second, cluster);
});

async function stop(process: { stop(): Promise<void> }, cluster: { advance(time: "1m"): Promise<void> }) {
  const ended = process.stop();
  await cluster.advance("1m");
  await ended;
}
