/** Reconciles one object once: finalizer, the user's function, status. */
import { maskSecrets } from "../base/mask_secrets.ts";
import { linked } from "../base/abort.ts";
import { milliseconds } from "../base/duration.ts";
import { equal, isObject } from "../base/json.ts";
import { isStatus } from "../kube/api_error.ts";
import type { ReconcileResult, Requeue } from "../parts/outcome.ts";
import type { AnyKind, Condition, KubeObject } from "../resource/kind.ts";
import { isOwnKind, keepsInConditions, keepsInStatus, ownsStatus } from "../resource/ownership.ts";
import { keyOf } from "../watch/key.ts";
import { contextOf, type CurrentReconcile } from "./context.ts";
import { StaleObjectError } from "./failure.ts";
import { nextStep } from "./finalizer.ts";
import { isSame, ownCache, type Scope, write } from "./scope.ts";
import { HOT_LOOP } from "./hot_loops.ts";
import { StatusDraft, statusOf } from "./status.ts";
import { traceWrite } from "./traced_writes.ts";

/** When an object is reconciled again. */
export interface NextReconcile {
  /** Delay in milliseconds. */
  readonly after: number;
}

/** A reconcile that is about to start. */
export type ReconcileStart = Omit<CurrentReconcile, "draft">;

/**
 * Reconciles an object.
 *
 * @returns When to reconcile it again; `undefined` if only a change triggers it.
 * @throws The error of the reconciler or of a write.
 */
export async function reconcileObject(scope: Scope, start: ReconcileStart): Promise<NextReconcile | undefined> {
  const { controller, finalizer } = scope;
  const { finalizers = [], deletionTimestamp } = start.object.metadata;
  const hasCleanup = controller.cleanup !== undefined;
  const isDeleting = deletionTimestamp !== undefined;
  const orphaned = scope.orphanedFinalizers.in(finalizers);
  // Finalizers of removed controllers are removed by the same patch.
  const own = finalizers.includes(finalizer) ? [finalizer] : [];
  const hasFinalizer = hasCleanup && !isDeleting
    ? own.length > 0 && orphaned.length === 0
    : own.length + orphaned.length > 0 && mayRemoveFinalizers(scope, start, [...own, ...orphaned]);
  switch (nextStep(hasCleanup, hasFinalizer, isDeleting)) {
    case "none":
      return undefined;
    case "remove finalizer":
      return void await removeFinalizer(scope, start);
    case "cleanup, then remove finalizer":
      return await cleanup(scope, start);
    case "reconcile":
      return await reconcile(scope, start);
    case "add finalizer, then reconcile":
      // Checked first: an object that was never reconciled needs no cleanup.
      scope.shape?.checkValid(start.object);
      return await reconcileAfter(scope, start, await addFinalizer(scope, start));
    case "remove finalizer, then reconcile":
      return await reconcileAfter(scope, start, await removeFinalizer(scope, start));
  }
}

/**
 * Returns whether the controller's RBAC permissions allow removing finalizers. For kinds that the
 * operator does not define, that requires a cleanup or an entry in `uses`. Without it, the object
 * is reconciled with the finalizer of an earlier version, and a warning is logged.
 */
function mayRemoveFinalizers(
  { controller: { kind, uses, cleanup } }: Scope,
  { log }: ReconcileStart,
  [finalizer = ""]: readonly string[],
): boolean {
  if (isOwnKind(kind) || cleanup !== undefined) return true;
  if (uses.some((access) => isSame(access.kind, kind) && access.verbs.includes("patch"))) return true;
  log.warn("Finalizer of an earlier version not removed", {
    finalizer,
    fix:
      `Add access(${kind.kind}, "patch") to "uses" until no object has the finalizer. Objects that have it cannot be deleted`,
  });
  return false;
}

/**
 * Reconciles an object after its finalizers were patched. An object that was deleted meanwhile is
 * skipped, because children that a reconcile created for it would never be cleaned up.
 */
async function reconcileAfter(
  scope: Scope,
  start: ReconcileStart,
  object: KubeObject | undefined,
): Promise<NextReconcile | undefined> {
  return object === undefined ? undefined : await reconcile(scope, { ...start, object });
}

async function reconcile(scope: Scope, start: ReconcileStart): Promise<NextReconcile | undefined> {
  scope.shape?.checkValid(start.object);
  const run = { ...start, draft: new StatusDraft() };
  const outcome = nextReconcileOf(
    scope,
    "reconcile",
    await withTimeout(scope, run, (run) => scope.controller.reconcile(run.object, contextOf(scope, run))),
  );
  const { kind } = scope.controller;
  const key = keyOf(start.object.metadata);
  scope.failures.set(kind, key, scope.part, undefined);
  const other = scope.failures.ofOthers(kind, key, scope.part);
  if (ownsStatus(kind)) {
    run.draft.offerCondition(
      other === undefined
        ? { type: "Ready", status: "True", reason: "Reconciled" }
        : { type: "Ready", status: "False", reason: other.reason, message: other.message },
    );
  }
  // Another controller's failure has priority in the shared condition.
  if (other === undefined) addHotLoopCondition(scope, run);
  await writeStatus(scope, run, other === undefined ? ["Reconciling", "Stalled", "Paused"] : ["Paused"]);
  return outcome;
}

/** Adds the condition of a hot loop if the object is in one. */
function addHotLoopCondition(scope: Scope, { object, draft }: CurrentReconcile): void {
  const { hotLoops, controller: { kind } } = scope;
  const message = ownsStatus(kind) ? hotLoops.messageFor(kind, cachedVersion(scope, object)) : undefined;
  if (message !== undefined) draft.offerCondition({ type: "Reconciling", status: "True", reason: HOT_LOOP, message });
}

/**
 * Cleans up a deleted object. Success is not reported in the status, because the object disappears
 * with its last finalizer.
 */
async function cleanup(scope: Scope, start: ReconcileStart): Promise<NextReconcile | undefined> {
  const run = { ...start, draft: new StatusDraft() };
  const outcome = nextReconcileOf(
    scope,
    "cleanup",
    await withTimeout(scope, run, (run) => scope.controller.cleanup!(run.object, contextOf(scope, run))),
  );
  // The cleanup requested another call, so it is not complete and the finalizer stays.
  if (outcome !== undefined) {
    addHotLoopCondition(scope, run);
    await writeStatus(scope, run, []);
    return outcome;
  }
  await removeFinalizer(scope, start);
  return undefined;
}

/**
 * Interprets the return value of `reconcile` or `cleanup`. It is validated, because user code may
 * not be type-checked, and an invalid delay would reconcile in a loop or never again.
 *
 * @throws {TypeError} If the value is neither `undefined`, `null` nor the result of `requeue`.
 */
function nextReconcileOf(scope: Scope, what: string, outcome: unknown): NextReconcile | undefined {
  if (outcome === undefined || outcome === null) return undefined;
  const { after, at } = outcome as Requeue;
  if (typeof after === "number" && after >= 0) return { after };
  if (typeof at === "number" && !Number.isNaN(at)) return { after: Math.max(0, at - scope.clock.now()) };
  throw new TypeError(
    `${what}() must return undefined or requeue(), got ${Deno.inspect(maskSecrets(outcome), { depth: 1 })}`,
  );
}

/**
 * Reports a failed reconcile in the object's status. Only for kinds whose status the operator owns:
 * the `Ready` condition of other kinds has its own meaning.
 */
export async function reportFailure(
  scope: Scope,
  start: ReconcileStart,
  reason: string,
  message: string,
  isStalled: boolean,
): Promise<void> {
  if (!ownsStatus(scope.controller.kind)) return;
  const draft = new StatusDraft();
  draft.addCondition({ type: "Ready", status: "False", reason, message });
  draft.addCondition({ type: isStalled ? "Stalled" : "Reconciling", status: "True", reason, message });
  await writeStatus(scope, { ...start, draft }, [isStalled ? "Reconciling" : "Stalled", "Paused"]);
}

/**
 * Reports in the object's status that an annotation pauses it. Only for kinds whose status the
 * operator owns.
 */
export async function reportPaused(scope: Scope, start: ReconcileStart): Promise<void> {
  if (!ownsStatus(scope.controller.kind)) return;
  const draft = new StatusDraft();
  draft.addCondition({
    type: "Paused",
    status: "True",
    reason: "PausedByAnnotation",
    message: `The object has the annotation "${scope.paused}"`,
  });
  // Changes were not reconciled, so the observed generation stays the same.
  const { generation: _, ...metadata } = start.object.metadata;
  await writeStatus(scope, { ...start, object: { ...start.object, metadata }, draft }, []);
}

async function withTimeout(
  scope: Scope,
  run: CurrentReconcile,
  call: (run: CurrentReconcile) => Promise<ReconcileResult> | ReconcileResult,
): Promise<ReconcileResult> {
  const { timeout } = scope.controller;
  if (timeout === undefined) return await call(run);
  using limit = linked([run.signal]);
  const { signal } = limit;
  using _timer = scope.clock.after(milliseconds(timeout), () => {
    limit.abort(new DOMException(`The reconcile took longer than ${timeout}`, "TimeoutError"));
  });
  // A reconciler that ignores its signal must not block the object forever.
  const late = new Promise<never>((_, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason), { once: true })
  );
  late.catch(() => undefined);
  return await Promise.race([call({ ...run, signal }), late]);
}

async function writeStatus(scope: Scope, run: CurrentReconcile, removedConditions: readonly string[]): Promise<void> {
  const { kind, writesStatus } = scope.controller;
  if (!writesStatus) return;
  const { metadata } = run.object;
  // The cache has changes that other writers made during the reconcile.
  const now = cachedVersion(scope, run.object);
  // The object was replaced by another one of the same name. Its status must not be overwritten.
  if (now.metadata.uid !== metadata.uid) return;
  if (!isOwnKind(kind)) return await writeForeignStatus(scope, run, now);
  const status = withoutUnknownFields(
    kind,
    run.draft.patch(now, metadata.generation, removedConditions, scope.clock.now()),
  );
  if (status === undefined) return;
  // A merge patch replaces the whole list of conditions. If the list has conditions of other
  // writers, the patch must fail when the object has changed.
  const guard = run.draft.keepsOthers(now) ? { metadata: { resourceVersion: now.metadata.resourceVersion } } : {};
  await patchReconciled(scope, run, { ...guard, status }, "status");
}

/**
 * Writes the reported status of a kind that the operator does not define. Other programs may write
 * this status too: the `parents` of an HTTPRoute have an entry per implementation. A merge patch
 * replaces a whole list, so the write fails if the status has changed since the reconciler read it,
 * and the object is reconciled again.
 */
async function writeForeignStatus(scope: Scope, run: CurrentReconcile, now: KubeObject): Promise<void> {
  const { kind } = scope.controller;
  const { generation } = run.object.metadata;
  const status = run.draft.reportedPatch(
    now,
    generation,
    scope.clock.now(),
    (condition) => conditionAsStored(kind, condition),
  );
  if (status === undefined) return;
  if (!equal(statusOf(now), statusOf(run.object))) {
    throw new StaleObjectError(`The status of ${kind.kind} "${now.metadata.name}" changed during the reconcile`);
  }
  await patchReconciled(scope, run, { metadata: { resourceVersion: now.metadata.resourceVersion }, status }, "status");
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
function cachedVersion(scope: Scope, object: KubeObject): KubeObject {
  return ownCache(scope).get(keyOf(object.metadata)) ?? object;
}

async function addFinalizer(scope: Scope, start: ReconcileStart): Promise<KubeObject | undefined> {
  const { resourceVersion, finalizers = [] } = start.object.metadata;
  const rest = otherFinalizers(scope, start, finalizers);
  return await patchReconciled(scope, start, { metadata: { resourceVersion, finalizers: [...rest, scope.finalizer] } });
}

async function removeFinalizer(scope: Scope, start: ReconcileStart): Promise<KubeObject | undefined> {
  // From the cache: another controller may have removed its finalizer during this cleanup.
  const { uid, resourceVersion, finalizers = [] } = cachedVersion(scope, start.object).metadata;
  if (uid !== start.object.metadata.uid) return undefined;
  const rest = otherFinalizers(scope, start, finalizers);
  return await patchReconciled(scope, start, { metadata: { resourceVersion, finalizers: rest } });
}

/**
 * Returns the finalizers that are neither the controller's own nor those of removed controllers.
 */
function otherFinalizers(scope: Scope, { log }: ReconcileStart, finalizers: readonly string[]): string[] {
  const orphaned = scope.orphanedFinalizers.in(finalizers);
  if (orphaned.length > 0) log.info("Finalizers of removed controllers released", { finalizers: orphaned });
  return finalizers.filter((name) => name !== scope.finalizer && !orphaned.includes(name));
}

/** Patches the reconciled object. Returns `undefined` if it was deleted. */
async function patchReconciled(
  scope: Scope,
  start: ReconcileStart,
  patch: unknown,
  subresource?: string,
): Promise<KubeObject | undefined> {
  const { kind } = scope.controller;
  const { name, namespace } = start.object.metadata;
  start.signal.throwIfAborted();
  const how = subresource === undefined ? {} : { subresource };
  start.effects.wrote = true;
  if (start.effects.trace) {
    await traceWrite(scope, start, { kind, name, namespace }, { verb: "patch", patch, options: how });
  }
  try {
    return await write(scope, start.object, { kind, name, namespace }, () =>
      scope.client.patch(kind, name, patch, {
        manager: scope.manager,
        signal: start.signal,
        ...(namespace === undefined ? {} : { namespace }),
        ...how,
      }));
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    throw error;
  }
}
