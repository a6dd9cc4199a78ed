/**
 * Finds and removes finalizers of an operator on objects that are not deleted with it. After the
 * operator is uninstalled, such finalizers would block the deletion of these objects.
 */
import { type AnyKind, ApiError } from "@op/sdk";
import { finalizerPrefix } from "../internal/mod.gen.ts";
import type { Cluster } from "../cluster.ts";
import { collectableKinds, scan, type ScannedObject } from "../cluster_scan.ts";
import { Failure } from "../exit_code.ts";
import type { OperatorFacts } from "../inspect.ts";
import type { Io } from "../io.ts";
import { namespaceOptions, shown } from "../objects.ts";
import { counted } from "../plural.ts";

/** The pause between two requests, in milliseconds. */
const PAUSE = 500;

/** The maximum number of objects that a message names. */
const MAX_NAMED = 3;

/** The declarations that determine an operator's finalizers. */
export type FinalizerOwner = Pick<OperatorFacts, "name" | "finalizers" | "foreignFinalized" | "reconciled" | "crds">;

/**
 * Returns whether a finalizer belongs to the operator: a controller declares it, or it begins with
 * the prefix that the operator's finalizers have on the kind. A finalizer of another domain, such
 * as `backup.example.com/shop.snapshot`, does not belong to it.
 *
 * @param finalizer The finalizer.
 * @param kind The kind of the object that has it.
 * @param facts The operator.
 */
export function isOperatorFinalizer(
  finalizer: string,
  kind: Pick<AnyKind, "group">,
  { name, finalizers }: FinalizerOwner,
): boolean {
  return finalizers.includes(finalizer) || finalizer.startsWith(finalizerPrefix(name, kind));
}

/**
 * Returns the objects that have a finalizer of the operator and are not deleted with it. Their kind
 * belongs to another owner, or only an earlier version of the operator had a controller for it.
 *
 * @param cluster The cluster.
 * @param facts The operator.
 * @param kinds The kinds to read. @default {all except those that are deleted with the operator}
 */
export async function foreignFinalizedObjects(
  cluster: Cluster,
  facts: FinalizerOwner,
  kinds?: readonly AnyKind[],
): Promise<readonly ScannedObject[]> {
  const deleted = facts.crds.map(({ metadata }) => metadata.name).filter((name) => facts.reconciled.includes(name));
  const all = kinds ??
    (await collectableKinds(cluster)).filter(({ plural, group }) => !deleted.includes(`${plural}.${group}`));
  const { objects, unread } = await scan(
    cluster,
    all,
    ({ metadata: { finalizers = [] } }, kind) => finalizers.some((name) => isBlocking(name, kind, facts)),
  );
  const unreadable = unread.find(({ kind }) => hasControllerFor(kind, facts));
  if (unreadable !== undefined) throw new Failure(unreadable.reason);
  return objects;
}

/**
 * Returns whether a finalizer of the operator would block a deletion after the uninstall. If the
 * operator has no controller for the kind, only finalizers with the operator's prefix count.
 */
function isBlocking(finalizer: string, kind: AnyKind, facts: FinalizerOwner): boolean {
  return hasControllerFor(kind, facts)
    ? isOperatorFinalizer(finalizer, kind, facts)
    : finalizer.startsWith(finalizerPrefix(facts.name, kind));
}

function hasControllerFor({ kind, group }: AnyKind, { foreignFinalized }: FinalizerOwner): boolean {
  return foreignFinalized.some((one) => one.kind === kind && (one.apiVersion.split("/").reverse()[1] ?? "") === group);
}

/**
 * Checks that no object that remains after an uninstall has a finalizer of the operator.
 *
 * @param cluster The cluster.
 * @param facts The operator.
 * @throws {Failure} If at least one object has one. The message names the option that removes the
 *   finalizers.
 */
export async function checkForeignFinalizers(cluster: Cluster, facts: OperatorFacts): Promise<void> {
  const finalized = await foreignFinalizedObjects(cluster, facts);
  if (finalized.length > 0) throw new Failure(report(facts, finalized));
}

/**
 * Removes the operator's finalizers from objects that are not deleted with it. It repeats this
 * until no finalizer remains, because an operator that is still stopping may add one again.
 *
 * @param cluster The cluster.
 * @param facts The operator, whose roles are already deleted.
 * @param timeout How long to try, in milliseconds.
 * @param io The terminal.
 * @throws {Failure} If finalizers remain after that time.
 */
export async function releaseForeignObjects(
  cluster: Cluster,
  facts: OperatorFacts,
  timeout: number,
  io: Io,
): Promise<void> {
  const deadline = AbortSignal.timeout(timeout);
  let finalized = await foreignFinalizedObjects(cluster, facts);
  const kinds = [...new Set(finalized.map(({ kind }) => kind))];
  for (; finalized.length > 0; finalized = await foreignFinalizedObjects(cluster, facts, kinds)) {
    if (deadline.aborted) throw new Failure(report(facts, finalized));
    for (const one of finalized) if (await release(cluster, one, facts)) io.out(`released   ${shown(one.object)}\n`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}

/**
 * Removes the operator's finalizers from an object.
 *
 * @param cluster The cluster.
 * @param scanned The object and its kind.
 * @param facts The operator.
 * @returns `false` if the object was changed or deleted concurrently.
 */
export async function release(
  cluster: Cluster,
  { kind, object }: ScannedObject,
  facts: FinalizerOwner,
): Promise<boolean> {
  const { name, resourceVersion, finalizers = [] } = object.metadata;
  const others = finalizers.filter((name) => !isBlocking(name, kind, facts));
  try {
    await cluster.client.patch(
      kind,
      name,
      { metadata: { resourceVersion, finalizers: others } },
      namespaceOptions(object),
    );
    return true;
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 409)) return false;
    throw error;
  }
}

function report({ name }: OperatorFacts, finalized: readonly ScannedObject[]): string {
  const names = finalized.slice(0, MAX_NAMED).map(({ object }) => shown(object)).join(", ");
  const more = finalized.length > MAX_NAMED ? ` and ${finalized.length - MAX_NAMED} more` : "";
  return `Cannot uninstall "${name}": ${
    counted(finalized.length, "object has", "objects have")
  } its finalizer and would not be deleted with it (${names}${more}). ` +
    "Without the operator, these objects could not be deleted. Delete those that it must clean up, then add --release-finalizers to remove the finalizer from the others.";
}
