/** Waiting until what was applied is served and runs. */
import { CustomResourceDefinition, Deployment } from "@op/sdk/kinds";
import type { Cluster } from "../cluster.ts";
import { shownDuration } from "../duration_option.ts";
import { Failure } from "../exit_code.ts";
import type { Io } from "../io.ts";
import type { PlainObject } from "../objects.ts";
import { step } from "../progress.ts";

const BETWEEN_LOOKS = 1000;

/**
 * Waits until definitions are served and Deployments have their replicas.
 *
 * @param cluster The cluster.
 * @param objects What was applied.
 * @param timeout How long at most, in milliseconds.
 * @param io The terminal and the shell.
 * @throws {Failure} If it takes longer; the message has what is waited for.
 */
export async function waitUntilRunning(
  cluster: Cluster,
  objects: readonly PlainObject[],
  timeout: number,
  io: Io,
): Promise<void> {
  // There is nothing to wait for in a sample.
  if (!objects.some(({ kind }) => ["CustomResourceDefinition", "Deployment"].includes(kind))) return;
  const late = AbortSignal.timeout(timeout);
  let told = "";
  while (true) {
    const waiting = (await Promise.all(objects.map((object) => stateOf(cluster, object)))).find((state) =>
      state !== undefined
    );
    if (waiting === undefined) return io.out("Everything runs\n");
    if (waiting !== told) step(`  waiting    ${told = waiting}`, io);
    if (late.aborted) {
      throw new Failure(
        `Cannot wait any longer than ${
          shownDuration(timeout)
        }: ${waiting}; see "kubectl describe pod", or wait with --timeout`,
      );
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, BETWEEN_LOOKS);
      late.addEventListener("abort", done, { once: true });
      function done(): void {
        clearTimeout(timer);
        late.removeEventListener("abort", done);
        resolve();
      }
    });
  }
}

/** What an object still waits for; nothing when it is as it should be. */
async function stateOf(
  { client }: Cluster,
  { kind, metadata: { name, namespace } }: PlainObject,
): Promise<string | undefined> {
  if (kind === "CustomResourceDefinition") {
    const { status } = await client.get(CustomResourceDefinition, name);
    const isServed = status?.conditions?.some(({ type, status }) => type === "Established" && status === "True");
    return isServed ? undefined : `${kind} ${name}: not served yet`;
  }
  if (kind !== "Deployment" || namespace === undefined) return undefined;
  const { metadata, spec, status = {} } = await client.get(Deployment, name, { namespace });
  const wanted = spec?.replicas ?? 1;
  const { observedGeneration = 0, updatedReplicas = 0, availableReplicas = 0, conditions = [] } = status;
  if (observedGeneration < (metadata.generation ?? 0)) return `Deployment ${name}: not seen by its controller yet`;
  const failed = conditions.find(({ type, status, reason }) =>
    (type === "ReplicaFailure" && status === "True") ||
    (type === "Progressing" && reason === "ProgressDeadlineExceeded")
  );
  if (failed !== undefined) {
    throw new Failure(`Cannot run Deployment "${namespace}/${name}": ${failed.message ?? failed.reason}`);
  }
  if (updatedReplicas >= wanted && availableReplicas >= wanted) return undefined;
  return `Deployment ${name}: ${availableReplicas} of ${wanted} replicas are available`;
}
