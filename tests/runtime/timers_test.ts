/** Timers, in virtual time. */
import assert from "node:assert/strict";
import { absent, on, operator, type Part, resource, s, TemporaryError } from "@op/sdk";
import { type MemoryCluster, memoryCluster } from "@op/sdk/testing";
import { startProcess } from "./_processes.ts";

const Website = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Website",
  spec: s.object({ replicas: s.integer({ default: 1 }) }),
  status: s.object({ pings: s.optional(s.integer()) }),
});

const HOUR = 3_600_000;
const START = Date.UTC(2030, 0, 1);

async function started(parts: Record<string, Part>): Promise<MemoryCluster> {
  const cluster = await memoryCluster({ parts, failures: "collect" });
  // Objects that are created before the first list are found at start.
  await cluster.settle({ within: "0s" });
  return cluster;
}

/** Returns a time of the virtual clock in seconds since its start. */
function seconds(now: Date): number {
  return Math.round((now.getTime() - START) / 1000);
}

/** Returns the number of writes of the operator. */
function writesOf(cluster: MemoryCluster): number {
  return cluster.requests.filter(({ verb, userAgent }) =>
    ["create", "update", "patch", "delete"].includes(verb) && userAgent.startsWith("test/")
  ).length;
}

Deno.test("hourly timers of three objects are called every hour for a month, without a write", async () => {
  const calls = new Map<string, number[]>();
  await using cluster = await started({
    ping: on.timer(Website, "1h", ({ metadata: { name } }, { now, cause }) => {
      assert.equal(cause, "timer");
      calls.set(name, [...calls.get(name) ?? [], now().getTime()]);
    }),
  });
  for (const name of ["a", "b", "c"]) {
    await cluster.create(Website, name, { spec: {} });
    await cluster.advance("7m");
  }
  const before = writesOf(cluster);
  await cluster.advance("720h");
  assert.equal(writesOf(cluster), before);
  assert.equal(calls.size, 3);
  for (const times of calls.values()) {
    for (const [i, time] of times.slice(1).entries()) assert.equal(time - times[i]!, HOUR);
    assert.equal(times.length, 721);
  }
});

Deno.test("the interval counts from the end of a call, or with fixedRate from the time it was due", async () => {
  const calls: [string, number][] = [];
  await using cluster = await started({
    relative: on.timer(Website, "10s", async (_site, { now, sleep }) => {
      calls.push(["relative", seconds(now())]);
      await sleep("3s");
    }),
  });
  await cluster.create(Website, "a", { spec: {} });
  await cluster.advance("30s");
  assert.deepEqual(calls.map(([, time]) => time), [0, 13, 26]);

  const fixed: number[] = [];
  await using other = await started({
    fixed: on.timer(Website, "10s", async (_site, { now, sleep }) => {
      fixed.push(seconds(now()));
      await sleep(fixed.length === 2 ? "15s" : "3s");
    }, { fixedRate: true }),
  });
  await other.create(Website, "a", { spec: {} });
  await other.advance("45s");
  assert.deepEqual(fixed, [0, 10, 30, 40], "the call at 20 s is skipped because the one at 10 s still runs");
});

Deno.test("a timer writes the status that it reports, once for each change", async () => {
  let pings = 0;
  await using cluster = await started({
    ping: on.timer(Website, "1m", (_site, { status }) => status({ pings: Math.floor(pings++ / 2) })),
  });
  await cluster.create(Website, "a", { spec: {} });
  await cluster.settle({ within: "1s" });
  const before = writesOf(cluster);
  await cluster.advance("9m");
  assert.equal((await cluster.get(Website, "a")).status?.pings, 4);
  assert.equal(writesOf(cluster) - before, 4);
});

Deno.test("a restart keeps the place of each object in the interval and calls few timers at once", async () => {
  let calls: number[] = [];
  await using cluster = await started({
    ping: on.timer(Website, "1h", (_site, { now }) => void calls.push(seconds(now()))),
  });
  const count = 40;
  for (let i = 0; i < count; i++) await cluster.create(Website, `a${i}`, { spec: {} });
  await cluster.advance("1m");
  assert.equal(calls.length, count);
  for (let restarts = 0; restarts < 5; restarts++) {
    calls = [];
    await cluster.restart();
    await cluster.advance("1s");
    assert(calls.length <= 2, `${calls.length} calls at the start`);
    await cluster.advance("20m");
  }
  calls = [];
  await cluster.advance("60m");
  assert.equal(calls.length, count);
  assert(new Set(calls).size > count / 2, "the calls are spread over the interval");
});

Deno.test("objects are called although restarts are more frequent than the interval", async () => {
  const calls: string[] = [];
  await using cluster = await started({
    ping: on.timer(Website, "1h", ({ metadata }) => void calls.push(metadata.name)),
  });
  for (let i = 0; i < 5; i++) await cluster.create(Website, `a${i}`, { spec: {} });
  await cluster.advance("1s");
  calls.length = 0;
  for (let restarts = 0; restarts < 12; restarts++) {
    await cluster.restart();
    await cluster.advance("5m");
  }
  assert.deepEqual(calls.toSorted(), ["a0", "a1", "a2", "a3", "a4"]);
});

for (
  const { change, start, expected } of [
    { change: "forward", start: "2030-03-30T00:00:00Z", expected: ["2030-03-30T01:30", "2030-03-31T01:00"] },
    { change: "back", start: "2030-10-26T12:00:00Z", expected: ["2030-10-27T00:30", "2030-10-28T01:30"] },
  ]
) {
  Deno.test(`a cron timer is called once a day when clocks are set ${change}`, async () => {
    const calls: string[] = [];
    const nightly = on.timer(Website, { cron: "30 2 * * *", timeZone: "Europe/Berlin" }, (_site, { now }) => {
      calls.push(now().toISOString().slice(0, 16));
    });
    await using cluster = await memoryCluster({ parts: { nightly }, start: new Date(start) });
    await cluster.settle({ within: "0s" });
    await cluster.create(Website, "a", { spec: {} });
    await cluster.advance("48h");
    assert.deepEqual(calls, expected);
  });
}

Deno.test("an operator with an invalid cron schedule does not start", async () => {
  const nightly = on.timer(Website, { cron: "30 2 30 2 *" }, () => {});
  const op = operator({ name: "timers", parts: { nightly }, health: false });
  await using cluster = await memoryCluster({ kinds: [Website] });
  await using running = op.start({ connection: cluster.connection, clock: cluster.clock });
  await assert.rejects(running.ready, RangeError);
});

Deno.test("a failed call is retried with backoff, reported, and the schedule continues", async () => {
  const calls: [number, number][] = [];
  let isDown = true;
  await using cluster = await started({
    ping: on.timer(Website, "1m", (_site, { now, attempt }) => {
      calls.push([seconds(now()), attempt]);
      if (isDown) throw new TemporaryError("The site is down");
    }, { backoff: "10s", retries: 3 }),
  });
  await cluster.create(Website, "a", { spec: {} });
  await cluster.advance("30s");
  assert.deepEqual(calls.splice(0), [[0, 1], [10, 2], [20, 3]]);
  const ready = async () => (await cluster.get(Website, "a")).status?.conditions?.find(({ type }) => type === "Ready");
  assert.deepEqual([(await ready())?.status, (await ready())?.reason], ["False", "RetriesExhausted"]);
  isDown = false;
  await cluster.advance("1m");
  assert.deepEqual(calls, [[80, 1]]);
  assert.equal((await ready())?.status, "True");
});

Deno.test("initialDelay and idle delay calls", async () => {
  const calls: [string, number][] = [];
  await using cluster = await started({
    late: on.timer(Website, "1m", (_site, { now }) => void calls.push(["late", seconds(now())]), {
      initialDelay: ({ spec }) => `${spec.replicas * 10}s`,
    }),
    calm: on.timer(Website, "1h", (_site, { now }) => void calls.push(["calm", seconds(now())]), { idle: "30s" }),
  });
  await cluster.create(Website, "a", { spec: { replicas: 2 } });
  await cluster.advance("25s");
  await cluster.patch(Website, "a", { spec: { replicas: 3 } });
  await cluster.advance("40s");
  assert.deepEqual(calls, [["late", 20], ["calm", 55]]);
});

Deno.test("a timer ends with its filters, the pause annotation and the deletion of its object", async () => {
  const calls: number[] = [];
  await using cluster = await started({
    ping: on.timer(Website, "10s", (_site, { now }) => void calls.push(seconds(now())), { labels: { off: absent } }),
  });
  await cluster.create(Website, "a", { spec: {} });
  await cluster.advance("15s");
  await cluster.patch(Website, "a", { metadata: { annotations: { "demo.example.com/paused": "true" } } });
  await cluster.advance("1m");
  assert.deepEqual(calls.splice(0), [0, 10]);
  await cluster.patch(Website, "a", { metadata: { annotations: { "demo.example.com/paused": null } } });
  await cluster.settle({ within: "0s" });
  assert.deepEqual(calls, [], "a call that the pause skipped is not made up for");
  await cluster.advance("10s");
  assert.equal(calls.length, 1);
  await cluster.patch(Website, "a", { metadata: { labels: { off: "true" } } });
  await cluster.advance("1m");
  assert.equal(calls.splice(0).length, 1);
  await cluster.patch(Website, "a", { metadata: { labels: { off: null } } });
  await cluster.advance("5s");
  assert.equal(calls.splice(0).length, 1);
  await cluster.delete(Website, "a");
  await cluster.advance("1m");
  assert.deepEqual(calls, []);
});

Deno.test("the deletion of an object waits for a running call only with blocksDeletion", async () => {
  for (const blocksDeletion of [true, undefined]) {
    const ends: string[] = [];
    await using cluster = await started({
      ping: on.timer(Website, "1h", async (_site, { clock, signal }) => {
        await new Promise<void>((resolve) => clock.after(10_000, resolve));
        ends.push(signal.aborted ? "aborted" : "finished");
      }, blocksDeletion ? { blocksDeletion } : {}),
    });
    await cluster.create(Website, "a", { spec: {} });
    await cluster.advance("1s");
    await cluster.delete(Website, "a");
    await cluster.advance("1s");
    assert.equal(await cluster.exists(Website, "a"), blocksDeletion === true);
    await cluster.advance("10s");
    assert.equal(await cluster.exists(Website, "a"), false);
    assert.deepEqual(ends, ["aborted"]);
  }
});

Deno.test("only the leader calls timers, and runOnce makes up for a call that no process made", async () => {
  const calls: number[] = [];
  const op = operator({
    name: "timers",
    parts: {
      hourly: on.timer(Website, { cron: "30 * * * *" }, (_site, { now }) => void calls.push(seconds(now()) / 3600), {
        missedRuns: "runOnce",
      }),
    },
    health: false,
    leaderElection: true,
  });
  await using cluster = await memoryCluster({ kinds: [Website] });
  await cluster.create(Website, "a", { spec: {} });
  const two = [startProcess(cluster, op, { host: "pod-0" }), startProcess(cluster, op, { host: "pod-1" })];
  await cluster.advance("125m");
  assert.deepEqual(calls.splice(0), [0.5, 1.5]);
  for (const process of two) {
    const ended = process[Symbol.asyncDispose]();
    await cluster.advance("1m");
    await ended;
  }
  await cluster.advance("1h");
  assert.deepEqual(calls, []);
  const next = startProcess(cluster, op, { host: "pod-2" });
  await cluster.advance("1m");
  assert.equal(calls.length, 1);
  const ended = next[Symbol.asyncDispose]();
  await cluster.advance("1m");
  await ended;
});
