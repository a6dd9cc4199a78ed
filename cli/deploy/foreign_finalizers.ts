/**
 * Finalizers of an operator on objects that are not deleted with it. After it is uninstalled, they
 * would block the deletion of these objects.
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

// Between two requests, in milliseconds.
const PAUSE = 500;

/** The number of objects that a message names. */
const MOST_NAMED = 3;

/** The declarations that determine an operator's finalizers. */
export type HeldBy = Pick<OperatorFacts, "name" | "finalizers" | "foreignFinalized" | "reconciled" | "crds">;

/**
 * Returns whether a finalizer belongs to the operator: a controller declares it, or it begins with
 * the prefix that the operator's finalizers have on the kind. One of another domain, such as
 * `backup.example.com/shop.snapshot`, does not.
 *
 * @param finalizer The finalizer.
 * @param kind The kind of the object that has it.
 * @param facts The operator.
 */
export function isItsOwn(finalizer: string, kind: Pick<AnyKind, "group">, { name, finalizers }: HeldBy): boolean {
  return finalizers.includes(finalizer) || finalizer.startsWith(finalizerPrefix(name, kind));
}

/**
 * Returns the objects that have a finalizer of the operator and are not deleted with it. Their
 * kinds belong to other owners, or an earlier version of the operator had a controller for them.
 *
 * @param cluster The cluster.
 * @param facts The operator.
 * @param kinds The kinds to read. @default {all except those that are deleted with the operator}
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
  const unreadable = unread.find(({ kind }) => isFinalized(kind, facts));
  if (unreadable !== undefined) throw new Failure(unreadable.reason);
  return objects;
}

/**
 * Returns whether a finalizer belongs to the operator. Without a controller for the kind, only
 * generated names count.
 */
function isLeft(finalizer: string, kind: AnyKind, facts: HeldBy): boolean {
  return isFinalized(kind, facts)
    ? isItsOwn(finalizer, kind, facts)
    : finalizer.startsWith(finalizerPrefix(facts.name, kind));
}

function isFinalized({ kind, group }: AnyKind, { foreignFinalized }: HeldBy): boolean {
  return foreignFinalized.some((one) => one.kind === kind && (one.apiVersion.split("/").reverse()[1] ?? "") === group);
}

/**
 * Fails if objects that are not deleted with the operator have its finalizer.
 *
 * @param cluster The cluster.
 * @param facts The operator.
 * @throws {Failure} If there is at least one. The message names the option that removes the
 * finalizers.
 */
export async function refuseForeignHeld(cluster: Cluster, facts: OperatorFacts): Promise<void> {
  const held = await foreignHeld(cluster, facts);
  if (held.length > 0) throw new Failure(report(facts, held));
}

/**
 * Removes the operator's finalizers from objects that are not deleted with it, until none is left:
 * an operator that is still stopping may add one again.
 *
 * @param cluster The cluster.
 * @param facts The operator, whose roles are deleted.
 * @param timeout How long to try, in milliseconds.
 * @param io The terminal.
 * @throws {Failure} If finalizers are left after that time.
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
 * @returns `false` if the object was changed or deleted concurrently.
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
  return `Cannot uninstall "${name}": ${
    counted(held.length, "object has", "objects have")
  } its finalizer and would not be deleted with it (${some}${more}). ` +
    "Without the operator, these objects could not be deleted. Delete those that it must clean up, then add --release-finalizers to remove the finalizer from the others.";
}
