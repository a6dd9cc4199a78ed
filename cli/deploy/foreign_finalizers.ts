/**
 * Finalizers of an operator on objects of kinds that belong to others. These objects stay when the operator is uninstalled, but could not be deleted any more.
 */
import { type AnyKind, ApiError } from "@op/sdk";
import { finalizerPrefix } from "../internal/mod.gen.ts";
import type { Cluster } from "../cluster.ts";
import { collectableKinds, scan, type ScannedObject } from "../cluster_scan.ts";
import { Failure } from "../exit_code.ts";
import type { OperatorFacts } from "../inspect.ts";
import type { Io } from "../io.ts";
import { place, shown } from "../objects.ts";
import { counted } from "../plural.ts";

const PAUSE = 500;

/** Objects that a message names before it counts the rest. */
const MOST_NAMED = 3;

/** What of an operator tells its finalizers. */
export type HeldBy = Pick<OperatorFacts, "name" | "finalizers" | "foreignFinalized" | "reconciled" | "crds">;

/**
 * Whether a finalizer is the operator's: a controller names it, or its name is made from the operator's.
 *
 * @param finalizer The finalizer.
 * @param facts The operator.
 */
export function isItsOwn(finalizer: string, { name, finalizers }: HeldBy): boolean {
  return finalizers.includes(finalizer) || (finalizer.split("/")[1] ?? "").startsWith(`${name}.`);
}

/**
 * Returns the objects that have a finalizer of the operator and are not deleted with it: objects of kinds of others, and of kinds that an earlier version of the
 * operator had a controller for.
 *
 * @param cluster The cluster.
 * @param facts The operator.
 * @param kinds The kinds to look at. @default {all but those that are deleted with the operator}
 */
export async function foreignHeld(
  cluster: Cluster,
  facts: HeldBy,
  kinds?: readonly AnyKind[],
): Promise<readonly ScannedObject[]> {
  const deleted = facts.crds.map(({ metadata }) => metadata.name).filter((name) => facts.reconciled.includes(name));
  const all = kinds ??
    (await collectableKinds(cluster)).filter(({ plural, group }) => !deleted.includes(`${plural}.${group}`));
  const { objects, unread } = await scan(
    cluster,
    all,
    ({ metadata: { finalizers = [] } }, kind) => finalizers.some((name) => isLeft(name, kind, facts)),
  );
  const missed = unread.find(({ kind }) => isFinalized(kind, facts));
  if (missed !== undefined) throw new Failure(missed.reason);
  return objects;
}

/** Whether a finalizer on an object of a kind is the operator's. Where it has no controller of the kind, only names that it made itself are. */
function isLeft(finalizer: string, kind: AnyKind, facts: HeldBy): boolean {
  return isFinalized(kind, facts)
    ? isItsOwn(finalizer, facts)
    : finalizer.startsWith(finalizerPrefix(facts.name, kind));
}

function isFinalized({ kind, group }: AnyKind, { foreignFinalized }: HeldBy): boolean {
  return foreignFinalized.some((one) => one.kind === kind && (one.apiVersion.split("/").reverse()[1] ?? "") === group);
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
  let held = await foreignHeld(cluster, facts);
  const kinds = [...new Set(held.map(({ kind }) => kind))];
  for (; held.length > 0; held = await foreignHeld(cluster, facts, kinds)) {
    if (late.aborted) throw new Failure(report(facts, held));
    for (const one of held) if (await release(cluster, one, facts)) io.out(`released   ${shown(one.object)}\n`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}

/**
 * Removes the operator's finalizers from an object.
 *
 * @param cluster The cluster.
 * @param held The object.
 * @param facts The operator.
 * @returns Whether it did: not if the object changed or was deleted meanwhile.
 */
export async function release(cluster: Cluster, { kind, object }: ScannedObject, facts: HeldBy): Promise<boolean> {
  const { name, resourceVersion, finalizers = [] } = object.metadata;
  const others = finalizers.filter((name) => !isLeft(name, kind, facts));
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
  } that it does not delete ${have} its finalizer (${some}${more}). ` +
    "Without the operator they could not be deleted any more. Delete those that it must clean up, then say --release-finalizers to remove its finalizers from the others without a cleanup.";
}
