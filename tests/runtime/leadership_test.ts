/** Leader election: several processes of one operator, of which one reconciles. */
import assert from "node:assert/strict";
import { controller, operator } from "@op/sdk";
import { ConfigMap, Lease } from "@op/sdk/kinds";
import { memoryCluster } from "@op/sdk/testing";
import { applyText, Note } from "../fixtures/notes.ts";
import { startProcess } from "./_processes.ts";

const notes = controller(Note, { owns: [ConfigMap], reconcile: applyText });
const op = operator({ name: "note-operator", parts: { notes }, health: false, leaderElection: true });

/** Starts processes of the operator on one cluster. */
async function startProcesses(count: number) {
  const stack = new AsyncDisposableStack();
  const cluster = stack.use(await memoryCluster({ kinds: [Note] }));
  const all = Array.from({ length: count }, (_, i) => {
    const process = startProcess(cluster, op, { host: `pod-${i}` });
    stack.defer(() => cluster.advance("1m"));
    return process;
  });
  for (const process of all) {
    stack.defer(async () => {
      const ended = process[Symbol.asyncDispose]();
      await cluster.advance("1m");
      await ended;
    });
  }
  await cluster.advance("1s");
  const leaders = () => all.flatMap(({ running }, i) => running.isLeading ? [i] : []);
  return {
    cluster,
    all,
    leaders,
    lease: async () => (await cluster.get(Lease, "note-operator")).spec,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

Deno.test("one of three processes reconciles, and renews a Lease with its identity and duration", async () => {
  await using run = await startProcesses(3);
  const { cluster, all, leaders } = run;
  const [leader] = leaders();
  assert.deepEqual(leaders(), [leader]);
  const before = await run.lease();
  assert.match(before?.holderIdentity ?? "", new RegExp(`^pod-${leader}_[0-9a-f-]{36}$`));
  assert.deepEqual([before?.leaseDurationSeconds, before?.leaseTransitions], [15, 0]);

  await cluster.create(Note, "a", { spec: { text: "one" } });
  await cluster.advance("1m");

  assert.equal((await cluster.get(ConfigMap, "a")).data?.text, "one");
  assert.deepEqual(all.map(({ writes }) => writes.length), all.map((_, i) => i === leader ? 2 : 0));
  const after = await run.lease();
  assert.equal(after?.holderIdentity, before?.holderIdentity);
  assert.equal(after?.acquireTime, before?.acquireTime);
  assert((after?.renewTime ?? "") >= "2030-01-01T00:00:58", after?.renewTime);
});

Deno.test("a leader that stops releases the Lease, and a warm standby takes over at once", async () => {
  await using run = await startProcesses(2);
  const { cluster, all, leaders } = run;
  const [first] = leaders() as [number];
  const stopped = all[first]!.stop();
  await cluster.advance("1s");
  await stopped;
  assert.equal((await run.lease())?.holderIdentity, undefined);
  const lists = cluster.requests.filter(({ path }) => path.includes("watch=true")).length;

  await cluster.create(Note, "a", { spec: { text: "one" } });
  await cluster.advance("5s");

  assert.deepEqual(leaders(), [1 - first]);
  assert.equal((await run.lease())?.leaseTransitions, 1);
  assert.equal((await cluster.get(ConfigMap, "a")).data?.text, "one");
  assert.equal(
    cluster.requests.filter(({ path }) => path.includes("watch=true")).length,
    lists,
    "the standby opened no new watch, since its caches were synced",
  );
});

Deno.test("a leader that loses its network stops leading before another process starts", async () => {
  await using run = await startProcesses(2);
  const { cluster, all, leaders } = run;
  const [first] = leaders() as [number];
  all[first]!.setConnected(false);
  let withoutLeader = 0;
  for (let second = 0; second < 25; second++) {
    await cluster.advance("1s");
    assert(leaders().length <= 1, `${leaders().length} processes lead after ${second} s`);
    if (leaders().length === 0) withoutLeader++;
  }
  assert.deepEqual(leaders(), [1 - first]);
  // The Lease lasts for 15 s, and a leader stops 10 s after its last renewal began.
  assert(withoutLeader >= 3, `only ${withoutLeader} s without a leader`);

  all[first]!.setConnected(true);
  await cluster.advance("1m");
  assert.deepEqual(leaders(), [1 - first], "the former leader stands by");
  const stopped = all[1 - first]!.stop();
  await cluster.advance("10s");
  await stopped;
  assert.deepEqual(leaders(), [first], "the former leader leads again when the other one stops");
});

for (const [change, offset] of [["", 0], [" and whose clock was set back by an hour", -3_600_000]] as const) {
  Deno.test(`a leader that was frozen for a minute${change} writes only to its Lease when it resumes`, async () => {
    await using run = await startProcesses(2);
    const { cluster, all, leaders } = run;
    const [first] = leaders() as [number];
    const frozen = all[first]!;
    for (let i = 0; i < 20; i++) await cluster.create(Note, `n${i}`, { spec: { text: "one" } });
    await cluster.settle();
    // The process is frozen in the middle of its reconciles.
    for (let i = 0; i < 20; i++) await cluster.patch(Note, `n${i}`, { spec: { text: "two" } });
    frozen.freeze();
    frozen.setClockOffset(offset);
    await cluster.advance("1m");
    assert.deepEqual(leaders(), [1 - first]);
    for (let i = 0; i < 20; i++) await cluster.patch(Note, `n${i}`, { spec: { text: "three" } });
    await cluster.advance("5s");
    const before = frozen.writes.length;

    frozen.resume();
    await cluster.advance("1m");

    assert.deepEqual(frozen.writes.slice(before), []);
    for (let i = 0; i < 20; i++) assert.equal((await cluster.get(ConfigMap, `n${i}`)).data?.text, "three");
    const stopped = all[1 - first]!.stop();
    await cluster.advance("10s");
    await stopped;
    await cluster.patch(Note, "n0", { spec: { text: "four" } });
    await cluster.advance("1s");
    assert.equal(
      (await cluster.get(ConfigMap, "n0")).data?.text,
      "four",
      "the resumed process leads and reconciles again",
    );
  });
}

for (const [name, offset] of [["back", -3_600_000], ["forward", 3_600_000]] as const) {
  Deno.test(`two processes whose clocks are set ${name} one after the other never lead at the same time`, async () => {
    await using run = await startProcesses(2);
    const { cluster, all, leaders } = run;
    const [first] = leaders() as [number];
    all[1 - first]!.setClockOffset(offset);
    await cluster.advance("1m");
    assert.deepEqual(leaders(), [first]);
    all[first]!.setClockOffset(offset);
    for (let second = 0; second < 60; second++) {
      await cluster.advance("1s");
      assert(leaders().length <= 1);
    }
    assert.equal(leaders().length, 1);
  });
}

Deno.test("a leader that loses its Lease stops reconciling, and reconciles later changes when it leads again", async () => {
  await using run = await startProcesses(1);
  const { cluster, leaders } = run;
  await cluster.create(Note, "a", { spec: { text: "one" } });
  await cluster.settle();
  await cluster.patch(Lease, "note-operator", { spec: { holderIdentity: "another" } });
  await cluster.advance("3s");
  assert.deepEqual(leaders(), []);
  await cluster.patch(ConfigMap, "a", { data: { text: "spoiled" } });
  await cluster.advance("10s");
  assert.equal((await cluster.get(ConfigMap, "a")).data?.text, "spoiled");
  await cluster.advance("20s");
  assert.deepEqual(leaders(), [0]);
  assert.equal((await cluster.get(ConfigMap, "a")).data?.text, "one");
});

Deno.test("readiness names the leader, and a standby is ready", async () => {
  await using run = await startProcesses(2);
  const lines = run.all.map(({ running }) => running.readiness().find(({ name }) => name === "leadership"));
  assert.deepEqual(lines.map((line) => line?.isReady), [true, true]);
  assert.deepEqual(lines.map((line) => line?.message.replace(/_.*? /, " ")).sort(), [
    "leads",
    `stands by, pod-${run.leaders()[0]} leads`,
  ]);
});
