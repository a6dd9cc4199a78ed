/** Reconciles one object once: finalizer, the user's function, status. */
import type { KubeObject } from "../resource/kind.ts";
import { isOwnKind, ownsStatus } from "../resource/ownership.ts";
import { keyOf } from "../watch/key.ts";
import type { CurrentReconcile } from "./current_reconcile.ts";
import { nextStep } from "./finalizer.ts";
import { HOT_LOOP } from "./hot_loops.ts";
import { cachedVersion, writeDraft, writeObject } from "./object_writer.ts";
import { isSame, type LoopScope, type UnitFailure, type UnitResult } from "./scope.ts";
import { conditionsIn, statusOf } from "./status.ts";

const DONE: UnitResult = { next: undefined };

/**
 * Reconciles an object.
 *
 * @returns When to reconcile it again, and failures that were not thrown.
 * @throws The error of the reconciler or of a write.
 */
export async function reconcileObject(scope: LoopScope, run: CurrentReconcile): Promise<UnitResult> {
  const { unit } = scope;
  const { finalizers = [], deletionTimestamp } = run.object.metadata;
  const hasCleanup = unit.cleanup !== undefined && (unit.needsFinalizer?.(run.object) ?? true);
  const isDeleting = deletionTimestamp !== undefined;
  const orphaned = unit.orphanedFinalizers.in(finalizers);
  // Finalizers of removed controllers are removed by the same patch.
  const own = finalizers.includes(unit.finalizer) ? [unit.finalizer] : [];
  const hasFinalizer = hasCleanup && !isDeleting
    ? own.length > 0 && orphaned.length === 0
    : own.length + orphaned.length > 0 && mayRemoveFinalizers(scope, run, [...own, ...orphaned]);
  switch (nextStep(hasCleanup, hasFinalizer, isDeleting)) {
    case "none":
      return unit.reconcileDeleting === undefined
        ? DONE
        : await writeDeleting(scope, run, await unit.reconcileDeleting(run));
    case "remove finalizer":
      removeFinalizers(scope, run);
      await writeObject(scope, run);
      return DONE;
    case "cleanup, then remove finalizer":
      return await cleanup(scope, run);
    case "reconcile":
      return await reconcile(scope, run);
    case "add finalizer, then reconcile":
      // Checked first: an object that was never reconciled needs no cleanup.
      scope.shape?.checkValid(run.object);
      addFinalizer(scope, run);
      return await reconcileAfterWrite(scope, run);
    case "remove finalizer, then reconcile":
      removeFinalizers(scope, run);
      return await reconcileAfterWrite(scope, run);
  }
}

/**
 * Returns whether the controller's RBAC permissions allow removing finalizers. For kinds that the
 * operator does not define, that requires a cleanup or an entry in `uses`. Without it, the object
 * is reconciled with the finalizer of an earlier version, and a warning is logged.
 */
function mayRemoveFinalizers(
  { unit: { kind, uses, cleanup } }: LoopScope,
  { log }: CurrentReconcile,
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
async function reconcileAfterWrite(scope: LoopScope, run: CurrentReconcile): Promise<UnitResult> {
  const object = await writeObject(scope, run);
  return object === undefined ? DONE : await reconcile(scope, { ...run, object });
}

async function reconcile(scope: LoopScope, run: CurrentReconcile): Promise<UnitResult> {
  scope.shape?.checkValid(run.object);
  const result = await scope.unit.reconcile(run);
  const { kind } = scope.unit;
  const key = keyOf(run.object.metadata);
  scope.failures.set(kind, key, scope.loop, result.failure);
  const other = scope.failures.ofOthers(kind, key, scope.loop);
  const failure = result.failure ?? other;
  if (result.isSilent && failure === undefined && !hasReadyCondition(run.object)) {
    await writeObject(scope, run);
    scope.unit.written?.(run.object);
    return result;
  }
  const { status } = run.draft;
  if (ownsStatus(kind)) {
    if (failure === undefined) status.offerCondition({ type: "Ready", status: "True", reason: "Reconciled" });
    else status.offerCondition({ type: "Ready", status: "False", reason: failure.reason, message: failure.message });
  }
  if (result.failure !== undefined) await writeFailure(scope, run, result.failure);
  else {
    // Another controller's failure has priority in the shared condition.
    if (other === undefined) addHotLoopCondition(scope, run);
    await writeDraft(scope, run, other === undefined ? ["Reconciling", "Stalled", "Paused"] : ["Paused"]);
  }
  scope.unit.written?.(run.object);
  return result;
}

function hasReadyCondition(object: KubeObject): boolean {
  return conditionsIn(statusOf(object)).some(({ type }) => type === "Ready");
}

/** Adds the condition of a hot loop if the object is in one. */
function addHotLoopCondition(scope: LoopScope, { object, draft }: CurrentReconcile): void {
  const { hotLoops, unit: { kind } } = scope;
  const message = ownsStatus(kind) ? hotLoops.messageFor(kind, cachedVersion(scope, object)) : undefined;
  if (message !== undefined) {
    draft.status.offerCondition({ type: "Reconciling", status: "True", reason: HOT_LOOP, message });
  }
}

/**
 * Cleans up a deleted object. Success is not reported in the status, because the object disappears
 * with its last finalizer.
 */
async function cleanup(scope: LoopScope, run: CurrentReconcile): Promise<UnitResult> {
  const result = await scope.unit.cleanup!(run);
  if (result.isIncomplete) return await writeDeleting(scope, run, result);
  removeFinalizers(scope, run);
  await writeObject(scope, run);
  return DONE;
}

/** Writes the changes of an object that continues to exist although it is being deleted. */
async function writeDeleting(scope: LoopScope, run: CurrentReconcile, result: UnitResult): Promise<UnitResult> {
  if (result.failure !== undefined) await writeFailure(scope, run, result.failure);
  else {
    addHotLoopCondition(scope, run);
    await writeDraft(scope, run, []);
  }
  scope.unit.written?.(run.object);
  return result;
}

/**
 * Reports a failed reconcile in the object's status. Only for kinds whose status the operator owns:
 * the `Ready` condition of other kinds has its own meaning.
 */
export async function reportFailure(scope: LoopScope, run: CurrentReconcile, failure: UnitFailure): Promise<void> {
  await writeFailure(scope, { ...run, draft: run.draft.withoutReport() }, failure);
}

async function writeFailure(scope: LoopScope, run: CurrentReconcile, failure: UnitFailure): Promise<void> {
  if (!ownsStatus(scope.unit.kind)) return await writeDraft(scope, run, []);
  const { reason, message, isStalled } = failure;
  const { status } = run.draft;
  status.addCondition({ type: "Ready", status: "False", reason, message });
  status.addCondition({ type: isStalled ? "Stalled" : "Reconciling", status: "True", reason, message });
  await writeDraft(scope, run, [isStalled ? "Reconciling" : "Stalled", "Paused"]);
}

/**
 * Reports in the object's status that an annotation pauses it. Only for kinds whose status the
 * operator owns.
 */
export async function reportPaused(scope: LoopScope, run: CurrentReconcile): Promise<void> {
  if (!ownsStatus(scope.unit.kind)) return;
  run.draft.status.addCondition({
    type: "Paused",
    status: "True",
    reason: "PausedByAnnotation",
    message: `The object has the annotation "${scope.paused}"`,
  });
  // Changes were not reconciled, so the observed generation stays the same.
  const { generation: _, ...metadata } = run.object.metadata;
  await writeDraft(scope, { ...run, object: { ...run.object, metadata } }, []);
}

function addFinalizer(scope: LoopScope, run: CurrentReconcile): void {
  run.draft.changeFinalizers([scope.unit.finalizer], releasedFinalizers(scope, run));
}

function removeFinalizers(scope: LoopScope, run: CurrentReconcile): void {
  run.draft.changeFinalizers([], [scope.unit.finalizer, ...releasedFinalizers(scope, run)]);
}

/** Returns the finalizers of removed controllers that the reconcile removes. */
function releasedFinalizers(scope: LoopScope, { object, log }: CurrentReconcile): readonly string[] {
  // From the cache: another controller may have removed its finalizer during this cleanup.
  const finalizers = scope.unit.orphanedFinalizers.in(cachedVersion(scope, object).metadata.finalizers);
  if (finalizers.length > 0) log.info("Finalizers of removed controllers released", { finalizers });
  return finalizers;
}
