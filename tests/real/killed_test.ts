/**
 * An operator killed by SIGKILL after its Nth write to a real API server, for twenty values of N:
 * the next process completes the work.
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

const LAST_WRITES = 20;
const MAIN = fileURLToPath(new URL("../fixtures/operators/killed.ts", import.meta.url));
const CONFIG = fileURLToPath(new URL("../../deno.json", import.meta.url));

Deno.test(`an operator killed after each of its first ${LAST_WRITES} writes leaves no work undone on a real API server`, async () => {
  await using cluster = await realCluster();
  const client = adminClient(cluster);
  await install(client, op);
  await using notes = await watched(client, Note);
  const create = (name: string, namespace: string) =>
    client.create(Note, { metadata: { name }, spec: { text: "one" } }, { namespace });

  /**
   * Runs the operator in this process until all work is done, which the statuses and a check show.
   */
  const finish = async (check: () => Promise<void>): Promise<void> => {
    const connection = await podConnection({ ...cluster, token: cluster.admin.token });
    {
      await using _running = startOperator(op, { connection, checkAccess: false });
      await notes.until((all) =>
        all.every(({ metadata, spec, status }) =>
          metadata.deletionTimestamp === undefined && status?.text === spec.text &&
          status?.conditions?.some(({ status, observedGeneration }) =>
              status === "True" && observedGeneration === metadata.generation
            ) === true
        )
      );
      // No status shows that an object was pruned.
      await eventually(check);
    }
    connection.close();
  };

  // One namespace for each kill, and one without.
  const places = ["whole", ...Array.from({ length: LAST_WRITES }, (_, i) => `killed-${i + 1}`)];
  for (const name of places) await client.create(Namespace, { metadata: { name } });
  for (const namespace of places) for (const name of ["a", "b"]) await create(name, namespace);
  /** Asserts that every namespace has the same objects, and the expected number of ConfigMaps. */
  const areAlike = async (maps: number): Promise<void> => {
    const [whole, ...others] = await Promise.all(places.map((namespace) => writtenObjects(client, namespace)));
    assert.equal((whole as { readonly maps: readonly unknown[] }).maps.length, maps);
    for (const [i, other] of others.entries()) assert.deepEqual(other, whole, `after write ${i + 1}`);
  };
  // Each of two notes has three ConfigMaps.
  await finish(() => areAlike(6));
  for (const namespace of places) {
    await client.patch(Note, "a", { spec: { text: "two" } }, { namespace });
    await client.delete(Note, "b", { namespace });
    for (const name of ["c", "d"]) await create(name, namespace);
  }
  const place = JSON.stringify({ url: cluster.url, caCert: cluster.caCert, token: cluster.admin.token });
  const die = async (lastWrite: number, way: "pod" | "kubeconfig"): Promise<void> => {
    const { signal, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", "--cached-only", "--no-lock", `--config=${CONFIG}`, MAIN].concat(
        [way, place, `killed-${lastWrite}`, String(lastWrite)],
      ),
      stdout: "null",
      stderr: "piped",
    }).output();
    assert.equal(signal, "SIGKILL", `after write ${lastWrite}: ${new TextDecoder().decode(stderr)}`);
  };
  for (let last = 1; last <= LAST_WRITES; last += 2) {
    await Promise.all([die(last, "pod"), die(last + 1, "kubeconfig")]);
  }
  // Children of the deleted note stay: no garbage collector runs here. Its copy is deleted by the
  // cleanup.
  await finish(() => areAlike(11));
});
