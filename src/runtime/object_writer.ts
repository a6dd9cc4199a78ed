/**
 * Writes the reconciled object: the changes of one reconcile become at most one request for the
 * object and one for its status.
 */
import { equal, isObject } from "../base/json.ts";
import { ApiError, isStatus } from "../kube/api_error.ts";
import type { AnyKind, Condition, KubeObject } from "../resource/kind.ts";
import { isOwnKind, keepsInConditions, keepsInStatus } from "../resource/ownership.ts";
import { keyOf } from "../watch/key.ts";
import type { CurrentReconcile } from "./current_reconcile.ts";
import { StaleObjectError } from "./failure.ts";
import { type GuardedChanges, hasValues, patchOf } from "./object_patch.ts";
import { type LoopScope, ownCache, write } from "./scope.ts";
import { statusOf } from "./status.ts";
import { traceWrite } from "./traced_writes.ts";

/**
 * Writes all changes of a reconcile. The object comes before its status: if the process ends in
 * between, the status does not report a change that was not made.
 *
 * @param scope The scope of the loop.
 * @param run The reconcile. Its draft has the changes.
 * @param removedConditions Condition types that no longer apply.
 * @throws {StaleObjectError} If the object changed so that the changes no longer apply.
 */
export async function writeDraft(
  scope: LoopScope,
  run: CurrentReconcile,
  removedConditions: readonly string[],
): Promise<void> {
  if (run.draft.changesObject && await writeObject(scope, run) === undefined) return;
  // The cache has changes that other writers made during the reconcile.
  const object = cachedVersion(scope, run.object);
  const changes = changesOfStatus(scope, run, object, removedConditions);
  if (changes !== undefined) await send(scope, run, object, changes, "status");
}

/**
 * Writes the changes of the object without its status. Later changes of the draft are sent by the
 * next call.
 *
 * @param scope The scope of the loop.
 * @param run The reconcile. Its draft has the changes.
 * @returns The object; `undefined` if it was deleted or replaced.
 * @throws {StaleObjectError} If the object changed so that the changes no longer apply.
 */
export async function writeObject(scope: LoopScope, run: CurrentReconcile): Promise<KubeObject | undefined> {
  const object = cachedVersion(scope, run.object);
  // Another object of the same name must not get the changes.
  if (object.metadata.uid !== run.object.metadata.uid) return undefined;
  const changes = run.draft.takeObjectChanges(object);
  return changes === undefined ? object : await send(scope, run, object, changes);
}

function changesOfStatus(
  scope: LoopScope,
  run: CurrentReconcile,
  object: KubeObject,
  removedConditions: readonly string[],
): GuardedChanges | undefined {
  const { kind, writesStatus } = scope.unit;
  // Another object of the same name must not get the status.
  if (!writesStatus || object.metadata.uid !== run.object.metadata.uid) return undefined;
  return isOwnKind(kind)
    ? ownStatusChanges(scope, run, object, removedConditions)
    : foreignStatusChanges(scope, run, object);
}

function ownStatusChanges(
  scope: LoopScope,
  { draft, object: { metadata: { generation } } }: CurrentReconcile,
  object: KubeObject,
  removedConditions: readonly string[],
): GuardedChanges | undefined {
  const patch = draft.status.patch(object, generation, removedConditions, scope.clock.now());
  const status = withoutUnknownFields(scope.unit.kind, patch);
  const fields = draft.takeStatusFields();
  if (status === undefined) return fields.length === 0 ? undefined : { merge: {}, fields, isVersioned: false };
  // The patch replaces the whole list of conditions. If the list has conditions of other writers,
  // the patch must fail when the object has changed.
  return { merge: { status }, fields, isVersioned: draft.status.keepsOthers(object) };
}

/**
 * Returns the changes of the status of a kind that the operator does not define. Other programs may
 * write this status too: the `parents` of an HTTPRoute have an entry per implementation. A patch
 * replaces a whole list, so the write fails if the status has changed since the reconciler read it,
 * and the object is reconciled again.
 */
function foreignStatusChanges(scope: LoopScope, run: CurrentReconcile, object: KubeObject): GuardedChanges | undefined {
  const { kind } = scope.unit;
  const status = run.draft.status.reportedPatch(
    object,
    run.object.metadata.generation,
    scope.clock.now(),
    (condition) => conditionAsStored(kind, condition),
  );
  const fields = run.draft.takeStatusFields();
  if (status === undefined) return fields.length === 0 ? undefined : { merge: {}, fields, isVersioned: false };
  if (!equal(statusOf(object), statusOf(run.object))) throw staleStatus(kind, object);
  return { merge: { status }, fields, isVersioned: true };
}

function staleStatus(kind: AnyKind, { metadata: { name } }: KubeObject): StaleObjectError {
  return new StaleObjectError(`The status of ${kind.kind} "${name}" changed during the reconcile`);
}

/**
 * Returns a condition as the API server stores it, so that the next reconcile finds it unchanged.
 */
function conditionAsStored(kind: AnyKind, condition: Condition): Condition {
  // Built-in kinds omit an empty message from conditions, and few have an observed generation.
  const isStored = kind.crd === undefined
    ? (name: string) => name !== "observedGeneration" && !(name === "message" && condition.message === "")
    : (name: string) => keepsInConditions(kind, name);
  return Object.fromEntries(Object.entries(condition).filter(([name]) => isStored(name))) as unknown as Condition;
}

/**
 * Removes `conditions` and `observedGeneration` from a status patch if the kind's schema does not
 * define them. API servers would drop them, and each reconcile would send them again.
 */
function withoutUnknownFields(kind: AnyKind, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const entries = Object.entries(patch).filter(([name]) => !ADDED_FIELDS.includes(name) || keepsInStatus(kind, name));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

const ADDED_FIELDS: readonly string[] = ["conditions", "observedGeneration"];

/** Returns the cached object of the same name, or the given object if none is cached. */
export function cachedVersion(scope: LoopScope, object: KubeObject): KubeObject {
  return ownCache(scope).get(keyOf(object.metadata)) ?? object;
}

/** Sends changes of the reconciled object. Returns `undefined` if it was deleted. */
async function send(
  scope: LoopScope,
  run: CurrentReconcile,
  object: KubeObject,
  changes: GuardedChanges,
  subresource?: string,
): Promise<KubeObject | undefined> {
  const { kind } = scope.unit;
  const { name, namespace } = run.object.metadata;
  run.signal.throwIfAborted();
  if (!hasValues(object, changes.fields)) throw staleObject(kind, object);
  const { type, patch } = patchOf(object, changes);
  const how = { ...(type === "merge" ? {} : { type }), ...(subresource === undefined ? {} : { subresource }) };
  run.effects.wrote = true;
  if (run.effects.trace) {
    await traceWrite(scope, run, { kind, name, namespace }, { verb: "patch", patch, options: how });
  }
  try {
    return await write(scope, run.object, { kind, name, namespace }, () =>
      scope.client.patch(kind, name, patch, {
        manager: scope.manager,
        signal: run.signal,
        ...(namespace === undefined ? {} : { namespace }),
        ...how,
      }));
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    if (type === "json" && isFailedTest(error)) throw staleObject(kind, object, error);
    throw error;
  }
}

/**
 * Returns whether a JSON patch did not match the stored object. Unlike an invalid object, such a
 * response has no causes.
 */
function isFailedTest(error: unknown): boolean {
  return error instanceof ApiError && error.status === 422 && error.causes.length === 0;
}

function staleObject(kind: AnyKind, { metadata: { name } }: KubeObject, cause?: unknown): StaleObjectError {
  return new StaleObjectError(`${kind.kind} "${name}" changed during the reconcile`, { cause });
}
