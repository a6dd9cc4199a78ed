/**
 * Finds the dependents of objects, which the garbage collector deletes after their owners.
 */
import type { AnyKind, KubeObject } from "@op/sdk";
import { collectableKinds, scan, type ScannedObject } from "../cluster_scan.ts";
import type { Cluster } from "../cluster.ts";
import { counted } from "../plural.ts";

/** The pause between two requests, in milliseconds. */
const PAUSE = 500;

/**
 * Returns the direct and indirect dependents of objects.
 *
 * @param cluster The cluster.
 * @param owners The UIDs of the owners.
 * @param kinds The kinds of the dependents. @default {all kinds that can be garbage-collected}
 */
export async function dependentsOf(
  cluster: Cluster,
  owners: ReadonlySet<string>,
  kinds?: readonly AnyKind[],
): Promise<ScannedObject[]> {
  if (owners.size === 0) return [];
  const { objects } = await scan(
    cluster,
    kinds ?? await collectableKinds(cluster),
    ({ metadata }) => (metadata.ownerReferences ?? []).length > 0,
  );
  const found = new Set<ScannedObject>();
  const uids = new Set(owners);
  for (let before = -1; before < found.size;) {
    before = found.size;
    for (const one of objects) {
      if (found.has(one) || !isOwnedBy(one.object, uids)) continue;
      found.add(one);
      uids.add(uidOf(one));
    }
  }
  return [...found];
}

/**
 * Waits until the garbage collector has deleted the dependents of deleted objects.
 *
 * @param cluster The cluster.
 * @param owners The UIDs of the deleted owners and of their known dependents.
 * @param timeout How long to wait, in milliseconds.
 * @returns The dependents that still exist.
 */
export async function untilCollected(
  cluster: Cluster,
  owners: ReadonlySet<string>,
  timeout: number,
): Promise<ScannedObject[]> {
  const deadline = AbortSignal.timeout(timeout);
  const uids = new Set(owners);
  let remaining = await dependentsOf(cluster, uids);
  while (remaining.length > 0 && !deadline.aborted) {
    // An object may be deleted before its own dependents.
    for (const one of remaining) uids.add(uidOf(one));
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    remaining = await dependentsOf(cluster, uids, [...new Set(remaining.map(({ kind }) => kind))]);
  }
  return remaining;
}

/** Returns the number of objects of each kind: `2 ConfigMaps, 1 Job`. */
export function byKind(objects: readonly Pick<ScannedObject, "kind">[]): string {
  return [...Map.groupBy(objects, ({ kind }) => kind.kind)].map(([kind, some]) => counted(some.length, kind)).join(
    ", ",
  );
}

/** Returns the UID of an object that was read from a cluster. */
export function uidOf({ object }: Pick<ScannedObject, "object">): string {
  return object.metadata.uid ?? "";
}

function isOwnedBy({ metadata }: KubeObject, uids: ReadonlySet<string>): boolean {
  return (metadata.ownerReferences ?? []).some(({ uid }) => uids.has(uid));
}
