/** Waits until definitions are served and Deployments are available. */
import { CustomResourceDefinition, Deployment } from "@op/sdk/kinds";
import type { Cluster } from "../cluster.ts";
import { shownDuration } from "../duration_option.ts";
import { Failure } from "../exit_code.ts";
import type { Io } from "../io.ts";
import type { PlainObject } from "../objects.ts";
import { step } from "../progress.ts";

/** The pause between two requests, in milliseconds. */
const PAUSE = 1000;

/**
 * Waits until definitions are served and Deployments have all their replicas.
 *
 * @param cluster The cluster.
 * @param objects The objects that were applied.
 * @param timeout How long to wait, in milliseconds.
 * @param io The terminal and the shell.
 * @throws {Failure} If a Deployment fails, or after the timeout.
 */
export async function waitUntilRunning(
  cluster: Cluster,
  objects: readonly PlainObject[],
  timeout: number,
  io: Io,
): Promise<void> {
  // Objects such as samples have no state to wait for.
  if (!objects.some(({ kind }) => ["CustomResourceDefinition", "Deployment"].includes(kind))) return;
  const deadline = AbortSignal.timeout(timeout);
  let reported = "";
  while (true) {
    const waiting = (await Promise.all(objects.map((object) => stateOf(cluster, object)))).find((state) =>
      state !== undefined
    );
    if (waiting === undefined) return io.out("The operator is ready\n");
    if (waiting !== reported) step(`  waiting    ${reported = waiting}`, io);
    if (deadline.aborted) {
      throw new Failure(
        `The operator was not ready within ${
          shownDuration(timeout)
        }: ${waiting}. See "kubectl describe pod", or wait longer with --timeout.`,
      );
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, PAUSE);
      deadline.addEventListener("abort", done, { once: true });
      function done(): void {
        clearTimeout(timer);
        deadline.removeEventListener("abort", done);
        resolve();
      }
    });
  }
}

/** Returns what an object waits for, or `undefined` if it is ready. */
async function stateOf(
  { client }: Cluster,
  { kind, metadata: { name, namespace } }: PlainObject,
): Promise<string | undefined> {
  if (kind === "CustomResourceDefinition") {
    const { status } = await client.get(CustomResourceDefinition, name);
    const isServed = status?.conditions?.some(({ type, status }) => type === "Established" && status === "True");
    return isServed ? undefined : `${kind} ${name} is not served yet`;
  }
  if (kind !== "Deployment" || namespace === undefined) return undefined;
  const { metadata, spec, status = {} } = await client.get(Deployment, name, { namespace });
  const desired = spec?.replicas ?? 1;
  const { observedGeneration = 0, updatedReplicas = 0, availableReplicas = 0, conditions = [] } = status;
  if (observedGeneration < (metadata.generation ?? 0)) {
    return `Deployment ${name} has changes that its controller has not processed yet`;
  }
  const failed = conditions.find(({ type, status, reason }) =>
    (type === "ReplicaFailure" && status === "True") ||
    (type === "Progressing" && reason === "ProgressDeadlineExceeded")
  );
  if (failed !== undefined) {
    throw new Failure(`Deployment "${namespace}/${name}" failed: ${failed.message ?? failed.reason}`);
  }
  if (updatedReplicas >= desired && availableReplicas >= desired) return undefined;
  return `Deployment ${name} has ${availableReplicas} of ${desired} replicas available`;
}
