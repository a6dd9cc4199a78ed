/** Who owns the replicas of an object, told of the object and of its scale (`k8s.io/apimachinery/pkg/util/managedfields`, scalehandler.go). */
import { FieldSet } from "../apply/field_set.ts";
import { decodeManaged, encodeManaged } from "../apply/managed_fields.ts";
import type { Owned } from "../apply/updater.ts";
import type { ManagedFieldsEntry } from "../objects/objects.ts";

/** Where the replicas are in each version of a kind; undefined where a version has no scale. */
export type ReplicasPaths = ReadonlyMap<string, readonly string[] | undefined>;

const SCALE_VERSION = "autoscaling/v1";
const IN_SCALE = ["f:spec", "f:replicas"];

/**
 * The owners of an object's scale.
 *
 * @param entries The owners of the object.
 * @param paths Where the replicas are.
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
  }).map(([id, owned]): [string, Owned] => [
    id,
    { ...owned, set: FieldSet.of(IN_SCALE), apiVersion: SCALE_VERSION },
  ]);
  return encodeManaged({ managers: new Map(managers), times: tracked.times });
}

/**
 * The owners of an object after a change of its scale.
 *
 * @param entries The owners of the object before.
 * @param scaleEntries The owners of the scale after.
 * @param paths Where the replicas are.
 * @param apiVersion The version in which the object is changed.
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
  const managers = new Map<string, Owned>();
  for (const [id, owned] of before.managers) {
    if (!paths.has(owned.apiVersion)) continue;
    const path = paths.get(owned.apiVersion);
    if (path === undefined || !owned.set.has(path) || scale.has(id)) {
      managers.set(id, owned);
      scale.delete(id);
      continue;
    }
    // Taken by another.
    const set = owned.set.difference(FieldSet.of(path));
    if (!set.isEmpty) managers.set(id, { ...owned, set });
  }
  const path = paths.get(apiVersion);
  for (const [id, owned] of scale) {
    if (path === undefined || !owned.set.has(IN_SCALE)) continue;
    managers.set(id, { ...owned, set: FieldSet.of(path), apiVersion });
  }
  // Of what came in through the scale the server forgets the time.
  return encodeManaged({ managers, times: before.times });
}
