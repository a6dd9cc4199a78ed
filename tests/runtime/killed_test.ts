/** An operator that is killed between any two of its writes: the next process finishes what it began. */
import assert from "node:assert/strict";
import { controller, operator } from "@op/sdk";
import { ConfigMap } from "@op/sdk/kinds";
import { memoryCluster } from "@op/sdk/testing";
import type { MemoryCluster } from "@op/sdk/testing";
import { Note } from "./_notes.ts";
import { type Mortal, startMortal } from "./_mortal.ts";

/** Makes two children and a copy that no owner reference takes away, tells, reports, and cleans up. */
const notes = controller(Note, {
  owns: [ConfigMap],
  async reconcile(note, { apply, applyAll, events, status }) {
    const { metadata: { name }, spec: { text } } = note;
    await applyAll([
      [ConfigMap, { metadata: { name: `${name}-${text}` }, data: { text } }],
      [ConfigMap, { metadata: { name }, data: { text } }],
    ]);
    await apply(ConfigMap, { metadata: { name: `${name}-copy` }, data: { text } }, { owner: false });
    events.normal("Copied", text);
    status({ text });
  },
  prune: true,
  async cleanup({ metadata: { name } }, context) {
    await context.delete(ConfigMap, `${name}-copy`);
  },
  uses: [{ kind: ConfigMap, verbs: ["delete"] }],
});
const op = operator({ name: "note-operator", parts: { notes }, health: false });

/** What happens to the objects, each after the operator came to rest. */
const SCENARIO: readonly ((cluster: MemoryCluster) => Promise<unknown>)[] = [
  (cluster) => cluster.create(Note, "a", { spec: { text: "one" } }),
  (cluster) => cluster.create(Note, "b", { spec: { text: "one" } }),
  (cluster) => cluster.patch(Note, "a", { spec: { text: "two" } }),
  async (cluster) => {
    if (await cluster.exists(ConfigMap, "a")) await cluster.patch(ConfigMap, "a", { data: { text: "spoiled" } });
  },
  (cluster) => cluster.delete(Note, "b"),
];

/** Runs the scenario with a process that dies after a write; the next one starts at once, or when all has happened. */
async function play(lastWrite: number, next: "at once" | "at the end"): Promise<{ writes: number; world: unknown }> {
  await using cluster = await memoryCluster({ kinds: [Note] });
  const processes: Mortal[] = [startMortal(cluster, op, lastWrite)];
  const replace = async (): Promise<void> => {
    if (!processes.at(-1)!.isDead) return;
    processes.push(startMortal(cluster, op));
    await cluster.advance("5s");
  };
  try {
    for (const happen of SCENARIO) {
      await happen(cluster);
      await cluster.advance("5s");
      if (next === "at once") await replace();
    }
    assert.equal(processes[0]!.isDead, lastWrite !== Infinity);
    await replace();
    return { writes: processes[0]!.writes, world: await world(cluster) };
  } finally {
    for (const process of processes) await process[Symbol.asyncDispose]();
  }
}

/** All that the operator is to have made, without what differs from run to run. */
async function world(cluster: MemoryCluster): Promise<unknown> {
  const maps = await cluster.list(ConfigMap);
  const all = await cluster.list(Note);
  return {
    maps: maps.map(({ metadata: { name, ownerReferences }, data }) => ({
      name,
      data,
      owners: ownerReferences?.map(({ kind, name, controller }) => ({ kind, name, controller })),
    })),
    notes: all.map(({ metadata: { name, finalizers }, spec, status }) => ({
      name,
      finalizers,
      spec,
      text: status?.text,
      conditions: status?.conditions?.map(({ type, status, reason, observedGeneration }) => ({
        type,
        status,
        reason,
        observedGeneration,
      })),
    })),
  };
}

for (const next of ["at once", "at the end"] as const) {
  Deno.test(`an operator killed after each of its writes leaves nothing undone: the next process starts ${next}`, async (t) => {
    const { writes, world } = await play(Infinity, next);
    assert(writes > 20, `${writes} writes`);
    for (let last = 1; last <= writes; last++) {
      await t.step(`killed after write ${last} of ${writes}`, async () => {
        assert.deepEqual((await play(last, next)).world, world);
      });
    }
  });
}
