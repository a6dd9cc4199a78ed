/**
 * An operator that is killed between any two of its writes: the next process completes the work.
 */
import assert from "node:assert/strict";
import { ConfigMap } from "@op/sdk/kinds";
import { memoryCluster } from "@op/sdk/testing";
import type { MemoryCluster } from "@op/sdk/testing";
import { Note } from "./_notes.ts";
import { op, world } from "./_killed.ts";
import { type Mortal, startMortal } from "./_mortal.ts";

/** The changes to the objects, each made after the operator is idle. */
const SCENARIO: readonly ((cluster: MemoryCluster) => Promise<unknown>)[] = [
  (cluster) => cluster.create(Note, "a", { spec: { text: "one" } }),
  (cluster) => cluster.create(Note, "b", { spec: { text: "one" } }),
  (cluster) => cluster.patch(Note, "a", { spec: { text: "two" } }),
  async (cluster) => {
    if (await cluster.exists(ConfigMap, "a")) await cluster.patch(ConfigMap, "a", { data: { text: "spoiled" } });
  },
  (cluster) => cluster.delete(Note, "b"),
];

/**
 * Runs the scenario with a process that dies after a write; the next process starts at once, or
 * after the last change.
 */
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
    return { writes: processes[0]!.writes, world: await world(cluster.client, "default") };
  } finally {
    for (const process of processes) await process[Symbol.asyncDispose]();
  }
}

for (const next of ["at once", "at the end"] as const) {
  Deno.test(`an operator killed after each of its writes leaves no work undone: the next process starts ${next}`, async (t) => {
    const { writes, world } = await play(Infinity, next);
    assert(writes > 20, `${writes} writes`);
    for (let last = 1; last <= writes; last++) {
      await t.step(`killed after write ${last} of ${writes}`, async () => {
        assert.deepEqual((await play(last, next)).world, world);
      });
    }
  });
}
