/** The next process of an operator completes the work of one that was killed. */
import assert from "node:assert/strict";
import { ConfigMap } from "@op/sdk/kinds";
import { memoryCluster } from "@op/sdk/testing";
import type { MemoryCluster } from "@op/sdk/testing";
import { Note } from "../fixtures/notes.ts";
import { op, writtenObjects } from "../fixtures/operators/killed.ts";
import { type Process, startProcess } from "./_processes.ts";

/** The changes to the objects, each made after the operator is idle. */
const CHANGES: readonly ((cluster: MemoryCluster) => Promise<unknown>)[] = [
  (cluster) => cluster.create(Note, "a", { spec: { text: "one" } }),
  (cluster) => cluster.create(Note, "b", { spec: { text: "one" } }),
  (cluster) => cluster.patch(Note, "a", { spec: { text: "two" } }),
  async (cluster) => {
    if (await cluster.exists(ConfigMap, "a")) await cluster.patch(ConfigMap, "a", { data: { text: "spoiled" } });
  },
  (cluster) => cluster.delete(Note, "b"),
];

/** When the next process starts. */
type Restart = "after the next change" | "after the last change";

/**
 * Makes the changes while an operator runs that is killed at a write.
 *
 * @returns The number of writes of the first process, and the objects at the end.
 */
async function runKilledAt(write: number, restart: Restart): Promise<{ writes: number; objects: unknown }> {
  await using cluster = await memoryCluster({ kinds: [Note] });
  const first = startProcess(cluster, op, { killedAtWrite: write });
  const processes: Process[] = [first];
  const startNext = async (): Promise<void> => {
    if (!processes.at(-1)!.isKilled) return;
    processes.push(startProcess(cluster, op));
    await cluster.advance("5s");
  };
  try {
    for (const change of CHANGES) {
      await change(cluster);
      await cluster.advance("5s");
      if (restart === "after the next change") await startNext();
    }
    assert.equal(first.isKilled, write !== Infinity);
    await startNext();
    const writes = first.writes.length + first.leases.length;
    return { writes, objects: await writtenObjects(cluster.client, "default") };
  } finally {
    for (const process of processes) await process[Symbol.asyncDispose]();
  }
}

for (const restart of ["after the next change", "after the last change"] as const) {
  Deno.test(`an operator killed at any of its writes leaves no work undone if it restarts ${restart}`, async (t) => {
    const { writes, objects } = await runKilledAt(Infinity, restart);
    assert(writes > 20, `${writes} writes`);
    for (let last = 1; last <= writes; last++) {
      await t.step(`killed at write ${last} of ${writes}`, async () => {
        assert.deepEqual((await runKilledAt(last, restart)).objects, objects);
      });
    }
  });
}
