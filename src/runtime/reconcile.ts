/** Reconciles one object once: finalizer, the user's function, status. */
import { maskSecrets } from "../base/mask_secrets.ts";
import { linked } from "../base/abort.ts";
import { milliseconds } from "../base/duration.ts";
import type { ReconcileResult, Requeue } from "../parts/outcome.ts";
import { isOwnKind, ownsStatus } from "../resource/ownership.ts";
import { keyOf } from "../watch/key.ts";
import type { CurrentReconcile } from "./current_reconcile.ts";
import { nextStep } from "./finalizer.ts";
import { HOT_LOOP } from "./hot_loops.ts";
import { cachedVersion, writeDraft, writeObject } from "./object_writer.ts";
import { isSame, type LoopScope } from "./scope.ts";

/** When an object is reconciled again. */
export interface NextReconcile {
  /** Delay in milliseconds. */
  readonly after: number;
}

/**
 * Reconciles an object.
 *
 * @returns When to reconcile it again; `undefined` if only a change triggers it.
 * @throws The error of the reconciler or of a write.
 */
export async function reconcileObject(scope: LoopScope, run: CurrentReconcile): Promise<NextReconcile | undefined> {
  const { unit } = scope;
  const { finalizers = [], deletionTimestamp } = run.object.metadata;
  const hasCleanup = unit.cleanup !== undefined;
  const isDeleting = deletionTimestamp !== undefined;
  const orphaned = unit.orphanedFinalizers.in(finalizers);
  // Finalizers of removed controllers are removed by the same patch.
  const own = finalizers.includes(unit.finalizer) ? [unit.finalizer] : [];
  const hasFinalizer = hasCleanup && !isDeleting
    ? own.length > 0 && orphaned.length === 0
    : own.length + orphaned.length > 0 && mayRemoveFinalizers(scope, run, [...own, ...orphaned]);
  switch (nextStep(hasCleanup, hasFinalizer, isDeleting)) {
    case "none":
      return undefined;
    case "remove finalizer":
      removeFinalizers(scope, run);
      return void await writeObject(scope, run);
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
async function reconcileAfterWrite(scope: LoopScope, run: CurrentReconcile): Promise<NextReconcile | undefined> {
  const object = await writeObject(scope, run);
  return object === undefined ? undefined : await reconcile(scope, { ...run, object });
}

async function reconcile(scope: LoopScope, run: CurrentReconcile): Promise<NextReconcile | undefined> {
  scope.shape?.checkValid(run.object);
  const outcome = nextReconcileOf(
    scope,
    "reconcile",
    await withTimeout(scope, run, (run) => scope.unit.reconcile(run)),
  );
  const { kind } = scope.unit;
  const key = keyOf(run.object.metadata);
  scope.failures.set(kind, key, scope.loop, undefined);
  const other = scope.failures.ofOthers(kind, key, scope.loop);
  if (ownsStatus(kind)) {
    run.draft.status.offerCondition(
      other === undefined
        ? { type: "Ready", status: "True", reason: "Reconciled" }
        : { type: "Ready", status: "False", reason: other.reason, message: other.message },
    );
  }
  // Another controller's failure has priority in the shared condition.
  if (other === undefined) addHotLoopCondition(scope, run);
  await writeDraft(scope, run, other === undefined ? ["Reconciling", "Stalled", "Paused"] : ["Paused"]);
  return outcome;
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
async function cleanup(scope: LoopScope, run: CurrentReconcile): Promise<NextReconcile | undefined> {
  const outcome = nextReconcileOf(
    scope,
    "cleanup",
    await withTimeout(scope, run, (run) => scope.unit.cleanup!(run)),
  );
  // The cleanup requested another call, so it is not complete and the finalizer stays.
  if (outcome !== undefined) {
    addHotLoopCondition(scope, run);
    await writeDraft(scope, run, []);
    return outcome;
  }
  removeFinalizers(scope, run);
  await writeObject(scope, run);
  return undefined;
}

/**
 * Interprets the return value of `reconcile` or `cleanup`. It is validated, because user code may
 * not be type-checked, and an invalid delay would reconcile in a loop or never again.
 *
 * @throws {TypeError} If the value is neither `undefined`, `null` nor the result of `requeue`.
 */
function nextReconcileOf(scope: LoopScope, what: string, outcome: unknown): NextReconcile | undefined {
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
  scope: LoopScope,
  run: CurrentReconcile,
  reason: string,
  message: string,
  isStalled: boolean,
): Promise<void> {
  const draft = run.draft.withoutReport();
  if (!ownsStatus(scope.unit.kind)) return void await writeDraft(scope, { ...run, draft }, []);
  draft.status.addCondition({ type: "Ready", status: "False", reason, message });
  draft.status.addCondition({ type: isStalled ? "Stalled" : "Reconciling", status: "True", reason, message });
  await writeDraft(scope, { ...run, draft }, [isStalled ? "Reconciling" : "Stalled", "Paused"]);
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

async function withTimeout(
  scope: LoopScope,
  run: CurrentReconcile,
  call: (run: CurrentReconcile) => Promise<ReconcileResult> | ReconcileResult,
): Promise<ReconcileResult> {
  const { timeout } = scope.unit;
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
