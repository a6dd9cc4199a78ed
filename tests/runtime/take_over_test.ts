/** The annotations of the Lease: processes that take over from others, and pauses. */
import assert from "node:assert/strict";
import { controller, operator, resource, s } from "@op/sdk";
import { ConfigMap, Lease } from "@op/sdk/kinds";
import { memoryCluster } from "@op/sdk/testing";
import { applyText, Note } from "../fixtures/notes.ts";
import { type Process, startProcess } from "./_processes.ts";

const notes = controller(Note, { owns: [ConfigMap], reconcile: applyText });
const op = operator({ name: "notes", parts: { notes }, health: false, leaderElection: true });

/** Returns the operator with a priority that takes over from leaders of a lower one. */
function takingOver(priority = 100) {
  return op.withSettings(`[operator.leader_election]\ntake_over = true\npriority = ${priority}`);
}

/** A cluster on which processes can be started and stopped in virtual time. */
async function startCluster() {
  const stack = new AsyncDisposableStack();
  const cluster = stack.use(await memoryCluster({ kinds: [Note, Slow] }));
  return {
    cluster,
    start(host: string, started = op): Process {
      const process = startProcess(cluster, started, { host });
      stack.defer(async () => {
        const ended = process[Symbol.asyncDispose]();
        await cluster.advance("2m");
        await ended;
      });
      return process;
    },
    async stop(process: Process) {
      const ended = process.stop();
      await cluster.advance("5s");
      await ended;
    },
    async annotations() {
      return (await cluster.get(Lease, "notes")).metadata.annotations ?? {};
    },
    annotate: (annotations: Record<string, string | null>) =>
      cluster.patch(Lease, "notes", { metadata: { annotations: annotations as Record<string, string> } }),
    /** Advances the time in seconds, and checks that at most one of the processes leads. */
    async advance(seconds: number, ...processes: readonly Process[]) {
      for (let i = 0; i < seconds; i++) {
        await cluster.advance("1s");
        assert(processes.filter(({ running }) => running.isLeading).length <= 1, "two processes lead");
      }
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const Slow = resource({ group: "slow.example.com", version: "v1", kind: "Slow", spec: s.object({}) });

Deno.test("a process that takes over leads within seconds, and the former leader leads again when it ends", async () => {
  await using run = await startCluster();
  const { cluster } = run;
  const deployed = run.start("deployed");
  await run.advance(1, deployed);
  assert.equal(deployed.running.isLeading, true);
  assert.equal((await run.annotations())["notes.op/priority"], "0");

  const newcomer = run.start("newcomer", takingOver());
  await run.advance(8, deployed, newcomer);
  assert.equal(newcomer.running.isLeading, true);
  assert.deepEqual(await run.annotations(), { "notes.op/priority": "100" });
  await cluster.create(Note, "a", { spec: { text: "one" } });
  await run.advance(30, deployed, newcomer);
  assert.equal(newcomer.running.isLeading, true);
  assert.equal((await cluster.get(ConfigMap, "a")).data?.text, "one");
  assert.deepEqual(deployed.writes, []);

  await run.stop(newcomer);
  await run.advance(3, deployed);
  assert.equal(deployed.running.isLeading, true);
  assert.equal((await run.annotations())["notes.op/priority"], "0");
});

Deno.test("a leader that yields finishes its running reconciles, starts no other one, and then releases the Lease", async () => {
  await using run = await startCluster();
  const { cluster } = run;
  const started: string[] = [];
  const finished: string[] = [];
  const slow = controller(Slow, {
    concurrency: 1,
    async reconcile({ metadata: { name } }, { sleep }) {
      started.push(name);
      await sleep("12s");
      finished.push(name);
    },
  });
  const slowOperator = operator({ name: "notes", parts: { slow }, health: false, leaderElection: true });
  const deployed = run.start("deployed", slowOperator);
  await run.advance(1, deployed);
  await cluster.create(Slow, "first", { spec: {} });
  await cluster.create(Slow, "second", { spec: {} });
  await run.advance(1, deployed);
  const newcomer = run.start("newcomer", takingOver());
  await run.advance(7, deployed, newcomer);
  const line = deployed.running.readiness().find(({ name }) => name === "leadership");
  assert.match(line?.message ?? "", /^yields to newcomer_/);
  assert.deepEqual([deployed.running.isLeading, finished], [true, []]);

  await run.advance(9, deployed, newcomer);
  assert.equal(newcomer.running.isLeading, true);
  assert.deepEqual([started, finished], [["first"], ["first"]]);

  await run.stop(newcomer);
  await run.advance(30, deployed);
  assert.deepEqual(finished.slice(1).sort(), ["first", "second"], "all objects are reconciled in the next term");
});

Deno.test("at equal priority the newcomer waits and reports it, and leads when the other one ends", async () => {
  await using run = await startCluster();
  const deployed = run.start("deployed");
  await run.advance(1, deployed);
  const first = run.start("first", takingOver());
  await run.advance(8, deployed, first);
  assert.equal(first.running.isLeading, true);

  const second = run.start("second", takingOver());
  await run.advance(60, deployed, first, second);
  assert.equal(first.running.isLeading, true);
  const line = second.running.readiness().find(({ name }) => name === "leadership");
  assert.match(line?.message ?? "", /^stands by, first_\S+ leads with priority 100, which is not lower$/);
  assert.match((await run.annotations())["notes.op/take-over-by"] ?? "", /^second_/);

  await run.stop(first);
  await run.advance(8, deployed, second);
  assert.deepEqual([deployed.running.isLeading, second.running.isLeading], [false, true]);
});

Deno.test("of two processes that ask, the one with the higher priority leads", async () => {
  await using run = await startCluster();
  const deployed = run.start("deployed");
  await run.advance(1, deployed);
  const low = run.start("low", takingOver(50));
  const high = run.start("high", takingOver(200));
  await run.advance(25, deployed, low, high);
  assert.deepEqual([low, high].map(({ running }) => running.isLeading), [false, true]);
  await run.stop(high);
  await run.advance(10, deployed, low);
  assert.deepEqual([deployed, low].map(({ running }) => running.isLeading), [false, true]);
});

Deno.test("a process that asks and crashes delays the former leader only until its request expires", async () => {
  await using run = await startCluster();
  const deployed = run.start("deployed");
  await run.advance(1, deployed);
  const crashed = startProcess(run.cluster, takingOver(), { host: "crashed", killedAtWrite: 1 });
  await run.advance(2, deployed, crashed);
  assert.equal(crashed.isKilled, true);
  await run.advance(8, deployed);
  assert.equal(deployed.running.isLeading, false, "it leaves the Lease to the process that asked");
  await run.advance(15, deployed);
  assert.equal(deployed.running.isLeading, true);
  assert.deepEqual(await run.annotations(), { "notes.op/priority": "0" });
  const ended = crashed[Symbol.asyncDispose]();
  await run.cluster.advance("1m");
  await ended;
});

Deno.test("requests do not extend the Lease of a leader that crashed", async () => {
  await using run = await startCluster();
  const leader = run.start("leader", takingOver());
  await run.advance(1, leader);
  const waiting = run.start("waiting", takingOver());
  await run.advance(10, leader, waiting);
  leader.setConnected(false);
  await run.advance(22, leader, waiting);
  assert.equal(waiting.running.isLeading, true);
});

Deno.test("a process that stops while it asks removes its request", async () => {
  await using run = await startCluster();
  const leader = run.start("leader", takingOver());
  await run.advance(1, leader);
  const waiting = run.start("waiting", takingOver());
  await run.advance(5, leader, waiting);
  await run.stop(waiting);
  assert.deepEqual(await run.annotations(), { "notes.op/priority": "100" });
});

Deno.test("a pause in the Lease stops reconciling in the leader and its successors, and ends by itself", async () => {
  await using run = await startCluster();
  const { cluster } = run;
  const [first, second] = [run.start("first"), run.start("second")];
  await run.advance(1, first, second);
  const leader = first.running.isLeading ? first : second;
  const standby = leader === first ? second : first;
  await run.annotate({ "notes.op/paused-by": "jane@laptop", "notes.op/paused-until": "2030-01-01T00:02:00Z" });
  await run.advance(3, first, second);
  await cluster.create(Note, "a", { spec: { text: "one" } });
  await run.advance(20, first, second);
  assert.deepEqual([...first.writes, ...second.writes], []);
  assert.equal(leader.running.isLeading, true, "a paused leader keeps the Lease");
  for (const { running } of [leader, standby]) {
    const line = running.readiness().find(({ name }) => name === "controller notes");
    assert.deepEqual(line, {
      name: "controller notes",
      isReady: false,
      message: "is paused by jane@laptop until 2030-01-01T00:02:00Z",
    });
    assert.match(await running.metrics.text(), /^op_paused 1$/m);
  }

  await run.stop(leader);
  await run.advance(20, standby);
  assert.equal(standby.running.isLeading, true);
  assert.deepEqual(standby.writes, []);

  await run.advance(80, standby);
  assert.equal((await cluster.get(ConfigMap, "a")).data?.text, "one");
  assert.match(await standby.running.metrics.text(), /^op_paused 0$/m);
  assert.deepEqual(await run.annotations(), { "notes.op/priority": "0" });
});

Deno.test("a pause without an end lasts until its annotations are removed", async () => {
  await using run = await startCluster();
  const { cluster } = run;
  const leader = run.start("leader");
  await run.advance(1, leader);
  await run.annotate({ "notes.op/paused-by": "jane@laptop" });
  await run.advance(3, leader);
  await cluster.create(Note, "a", { spec: { text: "one" } });
  await cluster.advance("1h");
  assert.deepEqual(leader.writes, []);
  await run.annotate({ "notes.op/paused-by": null });
  await run.advance(3, leader);
  assert.equal((await cluster.get(ConfigMap, "a")).data?.text, "one");
});

for (const [name, offset, resumesAfter] of [["back", -3_600_000, 3710], ["forward", 3_600_000, 3]] as const) {
  Deno.test(`a pause ends by the leader's clock, which is set ${name} by an hour`, async () => {
    await using run = await startCluster();
    const { cluster } = run;
    const leader = run.start("leader");
    await run.advance(1, leader);
    await run.annotate({ "notes.op/paused-by": "jane@laptop", "notes.op/paused-until": "2030-01-01T00:02:00Z" });
    await run.advance(3, leader);
    await cluster.create(Note, "a", { spec: { text: "one" } });
    leader.setClockOffset(offset);
    await cluster.advance(`${resumesAfter - 2}s`);
    if (offset < 0) assert.deepEqual(leader.writes, []);
    await cluster.advance("30s");
    assert.equal((await cluster.get(ConfigMap, "a")).data?.text, "one");
  });
}

Deno.test("annotations of another operator in the Lease have no effect", async () => {
  await using run = await startCluster();
  const leader = run.start("leader");
  await run.advance(1, leader);
  await run.annotate({
    "shop.op/paused-by": "jane@laptop",
    "shop.op/take-over-by": "another",
    "shop.op/take-over-priority": "100",
  });
  await run.cluster.create(Note, "a", { spec: { text: "one" } });
  await run.advance(5, leader);
  assert.equal(leader.running.isLeading, true);
  assert.equal((await run.cluster.get(ConfigMap, "a")).data?.text, "one");
});
