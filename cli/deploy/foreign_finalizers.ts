/**
 * Finalizers of an operator on objects of kinds that belong to others. These objects stay when the operator is uninstalled, but could not be deleted any more.
 */
import { ApiError, type KubeObject } from "@op/sdk";
import { type Cluster, servedKind } from "../cluster.ts";
import type { ScannedObject } from "../cluster_scan.ts";
import { Failure } from "../exit_code.ts";
import type { OperatorFacts } from "../inspect.ts";
import type { Io } from "../io.ts";
import { place, shown } from "../objects.ts";
import { counted } from "../plural.ts";

const PAUSE = 500;

/** Objects that a message names before it counts the rest. */
const MOST_NAMED = 3;

/**
 * Whether a finalizer is the operator's: a controller names it, or its name is made from the operator's.
 *
 * @param finalizer The finalizer.
 * @param facts The operator.
 */
export function isItsOwn(finalizer: string, { name, finalizers }: OperatorFacts): boolean {
  return finalizers.includes(finalizer) || (finalizer.split("/")[1] ?? "").startsWith(`${name}.`);
}

/**
 * Returns the objects of kinds of others that have a finalizer of the operator.
 *
 * @param cluster The cluster.
 * @param facts The operator.
 */
export async function foreignHeld(cluster: Cluster, facts: OperatorFacts): Promise<ScannedObject[]> {
  const lists = await Promise.all(facts.foreignFinalized.map(async (named) => {
    const kind = await servedKind(cluster, named);
    if (kind === undefined) return [];
    const objects: readonly KubeObject[] = await cluster.client.list(kind);
    return objects.filter(({ metadata }) => metadata.finalizers?.some((name) => isItsOwn(name, facts)))
      .map((object) => ({ kind, object }));
  }));
  return lists.flat();
}

/**
 * Fails if objects of kinds of others have a finalizer of the operator. The message counts them, and names the flag that removes it.
 *
 * @param cluster The cluster.
 * @param facts The operator.
 * @throws {Failure} If there is at least one.
 */
export async function refuseForeignHeld(cluster: Cluster, facts: OperatorFacts): Promise<void> {
  const held = await foreignHeld(cluster, facts);
  if (held.length > 0) throw new Failure(report(facts, held));
}

/**
 * Removes the operator's finalizers from objects of kinds of others, until none has one: an operator that is about to end may add another one.
 *
 * @param cluster The cluster.
 * @param facts The operator, whose roles are deleted.
 * @param timeout For how long, in milliseconds.
 * @param io The terminal.
 * @throws {Failure} If objects still have one after that time.
 */
export async function releaseForeign(cluster: Cluster, facts: OperatorFacts, timeout: number, io: Io): Promise<void> {
  const late = AbortSignal.timeout(timeout);
  for (let held = await foreignHeld(cluster, facts); held.length > 0; held = await foreignHeld(cluster, facts)) {
    if (late.aborted) throw new Failure(report(facts, held));
    for (const one of held) if (await release(cluster, one, facts)) io.out(`released   ${shown(one.object)}\n`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}

/** @returns Whether it did: an object that changed meanwhile is read again. */
async function release(cluster: Cluster, { kind, object }: ScannedObject, facts: OperatorFacts): Promise<boolean> {
  const { name, resourceVersion, finalizers = [] } = object.metadata;
  const others = finalizers.filter((name) => !isItsOwn(name, facts));
  try {
    await cluster.client.patch(kind, name, { metadata: { resourceVersion, finalizers: others } }, place(object));
    return true;
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 409)) return false;
    throw error;
  }
}

function report({ name }: OperatorFacts, held: readonly ScannedObject[]): string {
  const some = held.slice(0, MOST_NAMED).map(({ object }) => shown(object)).join(", ");
  const more = held.length > MOST_NAMED ? ` and ${held.length - MOST_NAMED} more` : "";
  const have = held.length === 1 ? "has" : "have";
  return `Cannot uninstall "${name}": ${
    counted(held.length, "object")
  } of kinds that it does not own ${have} its finalizer (${some}${more}). ` +
    "Without the operator they could not be deleted any more. Delete those that it must clean up, then say --release-finalizers to remove its finalizers from the others without a cleanup.";
}
