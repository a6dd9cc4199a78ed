/**
 * Converts the managers of the replicas between an object and its scale
 * (`k8s.io/apimachinery/pkg/util/managedfields`, scalehandler.go).
 */
import { FieldSet } from "../apply/field_set.ts";
import { decodeManaged, encodeManaged } from "../apply/managed_fields.ts";
import type { OwnedFields } from "../apply/updater.ts";
import type { ManagedFieldsEntry } from "../objects/objects.ts";

/** Path of the replicas in each version of a kind; undefined for a version without scale. */
export type ReplicasPaths = ReadonlyMap<string, readonly string[] | undefined>;

const SCALE_VERSION = "autoscaling/v1";
const IN_SCALE = ["f:spec", "f:replicas"];

/**
 * Returns the managers of an object's scale.
 *
 * @param entries Managed fields of the object.
 * @param paths Path of the replicas in each version.
 */
export function scaleOwners(
  entries: readonly ManagedFieldsEntry[],
  paths: ReplicasPaths,
): readonly ManagedFieldsEntry[] | undefined {
  const tracked = decodeManaged(entries);
  if (tracked === undefined) return undefined;
  const managers = [...tracked.managers].filter(([, { set, apiVersion }]) => {
    const path = paths.get(apiVersion);
    return path !== undefined && set.has(path);
  }).map(([id, owned]): [string, OwnedFields] => [
    id,
    { ...owned, set: FieldSet.of(IN_SCALE), apiVersion: SCALE_VERSION },
  ]);
  return encodeManaged({ managers: new Map(managers), times: tracked.times });
}

/**
 * Returns the managers of an object after a change of its scale.
 *
 * @param entries Managed fields of the object before the change.
 * @param scaleEntries Managed fields of the scale after the change.
 * @param paths Path of the replicas in each version.
 * @param apiVersion Version in which the object is changed.
 */
export function ownersAfterScale(
  entries: readonly ManagedFieldsEntry[],
  scaleEntries: readonly ManagedFieldsEntry[],
  paths: ReplicasPaths,
  apiVersion: string,
): readonly ManagedFieldsEntry[] | undefined {
  const before = decodeManaged(entries);
  if (before === undefined) return undefined;
  const scale = new Map(decodeManaged(scaleEntries)?.managers);
  const managers = new Map<string, OwnedFields>();
  for (const [id, owned] of before.managers) {
    if (!paths.has(owned.apiVersion)) continue;
    const path = paths.get(owned.apiVersion);
    if (path === undefined || !owned.set.has(path) || scale.has(id)) {
      managers.set(id, owned);
      scale.delete(id);
      continue;
    }
    // Another manager has taken over the replicas.
    const set = owned.set.difference(FieldSet.of(path));
    if (!set.isEmpty) managers.set(id, { ...owned, set });
  }
  const path = paths.get(apiVersion);
  for (const [id, owned] of scale) {
    if (path === undefined || !owned.set.has(IN_SCALE)) continue;
    managers.set(id, { ...owned, set: FieldSet.of(path), apiVersion });
  }
  // The real server stores no time for managers that come from the scale.
  return encodeManaged({ managers, times: before.times });
}
