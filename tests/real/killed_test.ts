/**
 * An operator that is killed by SIGKILL after its Nth write to a real API server, for N from 1 to
 * 20: the next process completes the work.
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { Namespace } from "../../src/kinds/mod.ts";
import { startOperator } from "../../src/operator/running.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { adminClient, watched } from "../fixtures/watched.ts";
import { op, writtenObjects } from "../fixtures/operators/killed.ts";
import { Note } from "../fixtures/notes.ts";
import { podConnection } from "../fixtures/connections.ts";
import { install } from "../fixtures/install.ts";
import { eventually } from "../eventually.ts";

const KILLS = 20;
const MAIN = fileURLToPath(new URL("../fixtures/operators/killed.ts", import.meta.url));
const CONFIG = fileURLToPath(new URL("../../deno.json", import.meta.url));

Deno.test(`the next process completes the work of an operator killed after any of its first ${KILLS} writes`, async () => {
  await using cluster = await realCluster();
  const client = adminClient(cluster);
  await install(client, op);
  await using notes = await watched(client, Note);
  const create = (name: string, namespace: string) =>
    client.create(Note, { metadata: { name }, spec: { text: "one" } }, { namespace });

  /**
   * Runs the operator in this process until the statuses show that all notes are reconciled, and a
   * check passes.
   */
  const runUntil = async (check: () => Promise<void>): Promise<void> => {
    const connection = await podConnection({ ...cluster, token: cluster.admin.token });
    {
      await using _running = startOperator(op, { connection, checkAccess: false, leaderElection: false });
      await notes.until((all) =>
        all.every(({ metadata, spec, status }) =>
          metadata.deletionTimestamp === undefined && status?.text === spec.text &&
          status?.conditions?.some(({ status, observedGeneration }) =>
              status === "True" && observedGeneration === metadata.generation
            ) === true
        )
      );
      // Statuses do not show whether objects were pruned.
      await eventually(check);
    }
    connection.close();
  };

  // One namespace for each killed process, and one whose operator is not killed.
  const namespaces = ["uninterrupted", ...Array.from({ length: KILLS }, (_, i) => `killed-${i + 1}`)];
  for (const name of namespaces) await client.create(Namespace, { metadata: { name } });
  for (const namespace of namespaces) for (const name of ["a", "b"]) await create(name, namespace);
  /** Asserts that every namespace has the same objects, and the expected number of ConfigMaps. */
  const assertAlike = async (maps: number): Promise<void> => {
    const [expected, ...others] = await Promise.all(namespaces.map((namespace) => writtenObjects(client, namespace)));
    assert.equal((expected as { readonly maps: readonly unknown[] }).maps.length, maps);
    for (const [i, other] of others.entries()) assert.deepEqual(other, expected, `after write ${i + 1}`);
  };
  // Each of two notes has three ConfigMaps.
  await runUntil(() => assertAlike(6));
  for (const namespace of namespaces) {
    await client.patch(Note, "a", { spec: { text: "two" } }, { namespace });
    await client.delete(Note, "b", { namespace });
    for (const name of ["c", "d"]) await create(name, namespace);
  }
  const access = JSON.stringify({ url: cluster.url, caCert: cluster.caCert, token: cluster.admin.token });
  const runUntilKilled = async (lastWrite: number, transport: "pod" | "kubeconfig"): Promise<void> => {
    const { signal, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", "--cached-only", "--no-lock", `--config=${CONFIG}`, MAIN].concat(
        [transport, access, `killed-${lastWrite}`, String(lastWrite)],
      ),
      stdout: "null",
      stderr: "piped",
    }).output();
    assert.equal(signal, "SIGKILL", `after write ${lastWrite}: ${new TextDecoder().decode(stderr)}`);
  };
  for (let last = 1; last <= KILLS; last += 2) {
    await Promise.all([runUntilKilled(last, "pod"), runUntilKilled(last + 1, "kubeconfig")]);
  }
  // Children of the deleted note remain, because no garbage collector runs here. The cleanup
  // deletes the note's copy.
  await runUntil(() => assertAlike(11));
});
