/**
 * Deletes objects, at once or after their finalizers are removed
 * (`k8s.io/apiserver/pkg/registry/generic/registry/store.go`, `Delete`).
 */
import { orphaning } from "../../openapi/registry.gen.ts";
import { keyOfObject } from "../objects/key.ts";
import { CLEANUP, DEFINITIONS, type ServedKind } from "../objects/kinds.ts";
import { type StoredObject, timestamp, withMetadata } from "../objects/objects.ts";
import type { DeleteOptions } from "../objects/options.ts";
import { conflict } from "../wire/status_error.ts";
import type { Core } from "./core.ts";
import { type Grace, graceOf } from "./grace.ts";
import { storedOf } from "./stored.ts";

/** Finalizer that blocks a deletion until the garbage collector has deleted the dependents. */
export const FOREGROUND = "foregroundDeletion";

/**
 * Finalizer that blocks a deletion until the garbage collector has removed the owner references of
 * the dependents.
 */
export const ORPHAN = "orphan";

/** The result of a deletion. */
export interface DeleteResult {
  /** The last state of the deleted object, or the current state if the deletion is blocked. */
  readonly object: StoredObject;
  /**
   * Whether the object is deleted. If not, finalizers or a grace period block its deletion.
   */
  readonly isDeleted: boolean;
}

/**
 * Deletes an object.
 *
 * @param core The server.
 * @param kind Kind of the object.
 * @param namespace Namespace of the object.
 * @param name Name of the object.
 * @param options Additional options.
 * @throws {StatusError} If the object does not exist, or a precondition fails.
 */
export function deleteObject(
  core: Core,
  kind: ServedKind,
  namespace: string | undefined,
  name: string,
  options: DeleteOptions,
): DeleteResult {
  return removeStored(core, kind, storedToDelete(core, kind, namespace, name, options), options);
}

/**
 * Returns the object to delete.
 *
 * @throws {StatusError} If the object does not exist, or a precondition fails.
 */
export function storedToDelete(
  core: Core,
  kind: ServedKind,
  namespace: string | undefined,
  name: string,
  options: DeleteOptions,
): StoredObject {
  const stored = storedOf(core, kind, namespace, name);
  checkPreconditions(kind, stored, options);
  return stored;
}

function checkPreconditions(kind: ServedKind, { metadata }: StoredObject, { preconditions }: DeleteOptions): void {
  if (preconditions?.uid !== undefined && preconditions.uid !== metadata.uid) {
    const detail =
      `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${metadata.uid}). ` +
      "The object might have been deleted and then recreated";
    throw conflict({ group: kind.group, plural: kind.kind }, metadata.name, detail);
  }
  const version = preconditions?.resourceVersion;
  if (version !== undefined && version !== metadata.resourceVersion) {
    const detail =
      `the ResourceVersion in the precondition (${version}) does not match the ResourceVersion in record ` +
      `(${metadata.resourceVersion}). The object might have been modified`;
    throw conflict({ group: kind.group, plural: kind.kind }, metadata.name, detail);
  }
}

function removeStored(core: Core, kind: ServedKind, stored: StoredObject, options: DeleteOptions): DeleteResult {
  const finalizers = finalizersFor(kind, stored, options);
  const key = keyOfObject(stored);
  if (kind.collection === "/pods") {
    const grace = graceOf(stored, options, core.clock.now());
    if (grace === "pending") return { object: kind.rules.read(stored), isDeleted: false };
    if (grace !== undefined) return removePod(core, kind, stored, { ...grace, finalizers }, options);
  }
  if (finalizers.length === 0 && !hasCleanupController(kind)) {
    const last = options.dryRun ? stored : core.store.delete(kind.collection, key) ?? stored;
    return { object: kind.rules.read(last), isDeleted: true };
  }
  const marked = markDeleted(kind, stored, finalizers, core.clock.now());
  if (options.dryRun || marked === stored) return { object: kind.rules.read(marked), isDeleted: false };
  return { object: kind.rules.read(core.store.put(kind.collection, key, marked)), isDeleted: false };
}

/**
 * Returns whether a controller completes the deletion of objects of a kind, after it has deleted
 * their contents.
 */
function hasCleanupController(kind: ServedKind): boolean {
  return kind.collection === "/namespaces" || kind.collection === DEFINITIONS;
}

/**
 * Returns the finalizers of an object once its deletion begins. The propagation policy sets those
 * of the garbage collector.
 */
function finalizersFor(
  kind: ServedKind,
  { metadata }: StoredObject,
  { propagationPolicy }: DeleteOptions,
): readonly string[] {
  const given = metadata.finalizers ?? [];
  const isNew = kind.collection === DEFINITIONS && metadata.deletionTimestamp === undefined;
  const before = isNew && !given.includes(CLEANUP) ? [...given, CLEANUP] : given;
  const hasCollectorFinalizer = before.includes(ORPHAN) || before.includes(FOREGROUND);
  if (propagationPolicy === undefined && orphaning.has(kind.collection) && !hasCollectorFinalizer) {
    return [...before, ORPHAN];
  }
  if (propagationPolicy === undefined) return before;
  const others = before.filter((each) => each !== ORPHAN && each !== FOREGROUND);
  if (propagationPolicy === "Orphan") return [...others, ORPHAN];
  return propagationPolicy === "Foreground" ? [...others, FOREGROUND] : others;
}

/**
 * Marks a pod as deleted first, even if its grace period is zero, so that watches see both changes.
 */
function removePod(
  core: Core,
  kind: ServedKind,
  stored: StoredObject,
  { seconds, until, finalizers }: Grace & { readonly finalizers: readonly string[] },
  { dryRun }: DeleteOptions,
): DeleteResult {
  const { deletionTimestamp, generation } = stored.metadata;
  const marked = withMetadata(stored, {
    finalizers: finalizers.length === 0 ? undefined : finalizers,
    deletionTimestamp: timestamp(until),
    deletionGracePeriodSeconds: seconds,
    ...(deletionTimestamp === undefined && generation !== undefined && { generation: generation + 1 }),
  });
  const isDeleted = seconds === 0 && finalizers.length === 0;
  if (dryRun) return { object: kind.rules.read(marked), isDeleted };
  const key = keyOfObject(stored);
  const put = core.store.put(kind.collection, key, marked);
  if (!isDeleted) return { object: kind.rules.read(put), isDeleted };
  return { object: kind.rules.read(core.store.delete(kind.collection, key) ?? put), isDeleted };
}

function markDeleted(
  kind: ServedKind,
  stored: StoredObject,
  finalizers: readonly string[],
  now: number,
): StoredObject {
  const { deletionTimestamp, generation, finalizers: before = [] } = stored.metadata;
  const hasSameFinalizers = finalizers.length === before.length && finalizers.every((each, i) => each === before[i]);
  if (deletionTimestamp !== undefined && hasSameFinalizers) return stored;
  const marked = withMetadata(stored, {
    finalizers: finalizers.length === 0 ? undefined : finalizers,
    ...(deletionTimestamp === undefined && {
      deletionTimestamp: timestamp(now),
      deletionGracePeriodSeconds: hasCleanupController(kind) ? undefined : 0,
      ...(generation !== undefined && !hasCleanupController(kind) && { generation: generation + 1 }),
    }),
  });
  return deletionTimestamp === undefined ? beginTermination(kind, marked, now) : marked;
}

/**
 * Sets the other fields that change when an object's deletion begins, such as the phase of a
 * namespace.
 */
function beginTermination(kind: ServedKind, marked: StoredObject, now: number): StoredObject {
  if (kind.collection === "/namespaces") {
    return { ...marked, status: { ...marked.status as object, phase: "Terminating" } };
  }
  if (!hasCleanupController(kind)) return marked;
  const status = marked.status as { conditions?: readonly { type: string }[] } | undefined;
  const conditions = (status?.conditions ?? []).filter(({ type }) => type !== "Terminating");
  const terminating = {
    type: "Terminating",
    status: "True",
    lastTransitionTime: timestamp(now),
    reason: "InstanceDeletionPending",
    message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
  };
  return { ...marked, status: { ...status, conditions: [...conditions, terminating] } };
}
