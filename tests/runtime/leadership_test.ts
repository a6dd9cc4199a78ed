/** Several processes of one operator: one is the leader, the others stand by. */
import assert from "node:assert/strict";
import { controller, operator } from "@op/sdk";
import { ConfigMap, Lease } from "@op/sdk/kinds";
import { memoryCluster } from "@op/sdk/testing";
import { applyText, Note } from "../fixtures/notes.ts";
import { startProcess } from "./_processes.ts";

const notes = controller(Note, { owns: [ConfigMap], reconcile: applyText });
const op = operator({ name: "note-operator", parts: { notes }, health: false, leaderElection: true });

async function processes(count: number) {
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

Deno.test("one of three processes works, and renews a Lease that names it and the duration", async () => {
  await using run = await processes(3);
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
  await using run = await processes(2);
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
    "its copies were warm",
  );
});

Deno.test("a leader that is cut off stops by its own clock before another starts", async () => {
  await using run = await processes(2);
  const { cluster, all, leaders } = run;
  const [first] = leaders() as [number];
  all[first]!.setConnected(false);
  let none = 0;
  for (let second = 0; second < 25; second++) {
    await cluster.advance("1s");
    assert(leaders().length <= 1, `two lead after ${second} s`);
    if (leaders().length === 0) none++;
  }
  assert.deepEqual(leaders(), [1 - first]);
  assert(none >= 3, `nobody led for ${none} s: 15 s less 10 s, less a try`);

  all[first]!.setConnected(true);
  await cluster.advance("1m");
  assert.deepEqual(leaders(), [1 - first], "it stands by");
  const stopped = all[1 - first]!.stop();
  await cluster.advance("10s");
  await stopped;
  assert.deepEqual(leaders(), [first], "and leads again when it is its turn");
});

for (const [meanwhile, offset] of [["", 0], [", its clock set back by an hour meanwhile,", -3_600_000]] as const) {
  Deno.test(`a leader that was frozen for a minute${meanwhile} writes only to its Lease when it resumes`, async () => {
    await using run = await processes(2);
    const { cluster, all, leaders } = run;
    const [first] = leaders() as [number];
    const frozen = all[first]!;
    for (let i = 0; i < 20; i++) await cluster.create(Note, `n${i}`, { spec: { text: "one" } });
    await cluster.settle();
    // In the middle of a reconcile.
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
    assert.equal((await cluster.get(ConfigMap, "n0")).data?.text, "four", "it leads again and works");
  });
}

for (const [name, offset] of [["back", -3_600_000], ["forward", 3_600_000]] as const) {
  Deno.test(`a standby whose clock is set ${name} does not take the Lease, and a leader whose clock is set never leads at the same time as another`, async () => {
    await using run = await processes(2);
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

Deno.test("taking the Lease away ends the term, and changes made meanwhile are reconciled in the next term", async () => {
  await using run = await processes(1);
  const { cluster, leaders } = run;
  await cluster.create(Note, "a", { spec: { text: "one" } });
  await cluster.settle();
  await cluster.patch(Lease, "note-operator", { spec: { holderIdentity: "somebody" } });
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
  await using run = await processes(2);
  const lines = run.all.map(({ running }) => running.readiness().find(({ name }) => name === "leadership"));
  assert.deepEqual(lines.map((line) => line?.isReady), [true, true]);
  assert.deepEqual(lines.map((line) => line?.told.replace(/_.*? /, " ")).sort(), [
    "leads",
    `stands by: pod-${run.leaders()[0]} leads`,
  ]);
});
