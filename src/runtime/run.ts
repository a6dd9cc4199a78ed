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
import { contextOf, type Run } from "./context.ts";
import { OutrunError } from "./failure.ts";
import { runStep } from "./finalizer.ts";
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
export type RunStart = Omit<Run, "draft">;

/**
 * Reconciles an object.
 *
 * @returns When to reconcile it again; `undefined` if only a change triggers it.
 * @throws The error of the reconciler or of a write.
 */
export async function runObject(scope: Scope, start: RunStart): Promise<NextReconcile | undefined> {
  const { controller, finalizer } = scope;
  const { finalizers = [], deletionTimestamp } = start.object.metadata;
  const cleans = controller.cleanup !== undefined;
  const isDeleting = deletionTimestamp !== undefined;
  const left = scope.leftFinalizers.in(finalizers);
  // Finalizers of removed controllers are removed by the same patch.
  const own = finalizers.includes(finalizer) ? [finalizer] : [];
  const isHeld = cleans && !isDeleting
    ? own.length > 0 && left.length === 0
    : own.length + left.length > 0 && mayRemoveFinalizers(scope, start, [...own, ...left]);
  switch (runStep(cleans, isHeld, isDeleting)) {
    case "none":
      return undefined;
    case "remove finalizer":
      return void await removeFinalizer(scope, start);
    case "cleanup, then remove finalizer":
      return await cleanup(scope, start);
    case "reconcile":
      return await reconcile(scope, start);
    case "add finalizer, then reconcile":
      // Without a reconcile there is nothing to clean up.
      scope.shape?.refuseInvalid(start.object);
      return await reconcileAfter(scope, start, await addFinalizer(scope, start));
    case "remove finalizer, then reconcile":
      return await reconcileAfter(scope, start, await removeFinalizer(scope, start));
  }
}

/**
 * Returns whether the controller's RBAC permissions allow removing finalizers. For kinds of others,
 * that needs a cleanup or an entry in `uses`. A finalizer of an earlier version must not prevent
 * reconciling.
 */
function mayRemoveFinalizers(
  { controller: { kind, uses, cleanup } }: Scope,
  { log }: RunStart,
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

/** Skips an object that was deleted meanwhile: its children would never be cleaned up. */
async function reconcileAfter(
  scope: Scope,
  start: RunStart,
  object: KubeObject | undefined,
): Promise<NextReconcile | undefined> {
  return object === undefined ? undefined : await reconcile(scope, { ...start, object });
}

async function reconcile(scope: Scope, start: RunStart): Promise<NextReconcile | undefined> {
  scope.shape?.refuseInvalid(start.object);
  const run = { ...start, draft: new StatusDraft() };
  const outcome = checked(
    scope,
    "reconcile",
    await timed(scope, run, (run) => scope.controller.reconcile(run.object, contextOf(scope, run))),
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
  if (other === undefined) offerHotLoop(scope, run);
  await writeStatus(scope, run, other === undefined ? ["Reconciling", "Stalled", "Paused"] : ["Paused"]);
  return outcome;
}

/** Adds the condition for a hot loop. */
function offerHotLoop(scope: Scope, { object, draft }: Run): void {
  const { hotLoops, controller: { kind } } = scope;
  const message = ownsStatus(kind) ? hotLoops.messageFor(kind, latest(scope, object)) : undefined;
  if (message !== undefined) draft.offerCondition({ type: "Reconciling", status: "True", reason: HOT_LOOP, message });
}

/** Cleans up. Success is not reported, because the object is deleted with its last finalizer. */
async function cleanup(scope: Scope, start: RunStart): Promise<NextReconcile | undefined> {
  const run = { ...start, draft: new StatusDraft() };
  const outcome = checked(
    scope,
    "cleanup",
    await timed(scope, run, (run) => scope.controller.cleanup!(run.object, contextOf(scope, run))),
  );
  // A requested delay means that the cleanup is not done, so the finalizer stays.
  if (outcome !== undefined) {
    offerHotLoop(scope, run);
    await writeStatus(scope, run, []);
    return outcome;
  }
  await removeFinalizer(scope, start);
  return undefined;
}

/**
 * Checks the return value of user code, whose types may be unchecked: an invalid delay would
 * reconcile in a loop, or never again.
 */
function checked(scope: Scope, what: string, outcome: unknown): NextReconcile | undefined {
  if (outcome === undefined || outcome === null) return undefined;
  const { after, at } = outcome as Requeue;
  if (typeof after === "number" && after >= 0) return { after };
  if (typeof at === "number" && !Number.isNaN(at)) return { after: Math.max(0, at - scope.clock.now()) };
  throw new TypeError(
    `${what}() must return undefined or requeue(), got ${Deno.inspect(maskSecrets(outcome), { depth: 1 })}`,
  );
}

/**
 * Reports a failed reconcile in the object's status. For kinds of others it is not, because their
 * `Ready` condition has its own meaning.
 */
export async function reportFailure(
  scope: Scope,
  start: RunStart,
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
 * Reports in the status of an object that its annotation pauses it. Only for the operator's kinds.
 */
export async function reportPaused(scope: Scope, start: RunStart): Promise<void> {
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

async function timed(
  scope: Scope,
  run: Run,
  call: (run: Run) => Promise<ReconcileResult> | ReconcileResult,
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

async function writeStatus(scope: Scope, run: Run, drops: readonly string[]): Promise<void> {
  const { kind, writesStatus } = scope.controller;
  if (!writesStatus) return;
  const { metadata } = run.object;
  // The cache has changes that other writers made during the reconcile.
  const now = latest(scope, run.object);
  // The object was replaced by another one of the same name, which has its own status.
  if (now.metadata.uid !== metadata.uid) return;
  if (!isOwnKind(kind)) return await writeForeignStatus(scope, run, now);
  const status = kept(kind, run.draft.patch(now, metadata.generation, drops, scope.clock.now()));
  if (status === undefined) return;
  // A merge patch replaces the whole list of conditions. If it has conditions of other writers, the
  // patch must fail when the object has changed.
  const guard = run.draft.keepsOthers(now) ? { metadata: { resourceVersion: now.metadata.resourceVersion } } : {};
  await patchOwn(scope, run, { ...guard, status }, "status");
}

/**
 * Writes the reported status of a kind that others define and may write too: lists such as an
 * HTTPRoute's `parents` have an entry per implementation. A merge patch replaces a whole list, so
 * the write fails if the status has changed since the reconciler read it, and the object is
 * reconciled again.
 */
async function writeForeignStatus(scope: Scope, run: Run, now: KubeObject): Promise<void> {
  const { kind } = scope.controller;
  const { generation } = run.object.metadata;
  const status = run.draft.reportedPatch(now, generation, scope.clock.now(), (condition) => storedIn(kind, condition));
  if (status === undefined) return;
  if (!equal(statusOf(now), statusOf(run.object))) {
    throw new OutrunError(`The status of ${kind.kind} "${now.metadata.name}" changed during the reconcile`);
  }
  await patchOwn(scope, run, { metadata: { resourceVersion: now.metadata.resourceVersion }, status }, "status");
}

/** A condition as the API server returns it, so that it compares equal in the next reconcile. */
function storedIn(kind: AnyKind, condition: Condition): Condition {
  // The types of built-in conditions omit an empty message, and few of them have a generation.
  const isStored = kind.crd === undefined
    ? (name: string) => name !== "observedGeneration" && !(name === "message" && condition.message === "")
    : (name: string) => keepsInConditions(kind, name);
  return Object.fromEntries(Object.entries(condition).filter(([name]) => isStored(name))) as unknown as Condition;
}

/**
 * Removes the fields that are added to every status if the kind's schema does not define them. API
 * servers would drop them, and each reconcile would send them again.
 */
function kept(kind: AnyKind, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const entries = Object.entries(patch).filter(([name]) => !ADDED.includes(name) || keepsInStatus(kind, name));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

const ADDED: readonly string[] = ["conditions", "observedGeneration"];

/** Returns the cached object of the same name, or the object itself if there is none. */
function latest(scope: Scope, object: KubeObject): KubeObject {
  return ownCache(scope).get(keyOf(object.metadata)) ?? object;
}

async function addFinalizer(scope: Scope, start: RunStart): Promise<KubeObject | undefined> {
  const { resourceVersion, finalizers = [] } = start.object.metadata;
  const rest = withoutOwn(scope, start, finalizers);
  return await patchOwn(scope, start, { metadata: { resourceVersion, finalizers: [...rest, scope.finalizer] } });
}

async function removeFinalizer(scope: Scope, start: RunStart): Promise<KubeObject | undefined> {
  // From the cache: another controller may have removed its finalizer during this cleanup.
  const { uid, resourceVersion, finalizers = [] } = latest(scope, start.object).metadata;
  if (uid !== start.object.metadata.uid) return undefined;
  const rest = withoutOwn(scope, start, finalizers);
  return await patchOwn(scope, start, { metadata: { resourceVersion, finalizers: rest } });
}

/** Returns the finalizers without the controller's own and those of removed controllers. */
function withoutOwn(scope: Scope, { log }: RunStart, finalizers: readonly string[]): string[] {
  const left = scope.leftFinalizers.in(finalizers);
  if (left.length > 0) log.info("Finalizers of removed controllers released", { finalizers: left });
  return finalizers.filter((name) => name !== scope.finalizer && !left.includes(name));
}

/** Patches the object. Returns `undefined` if it was deleted, which ends the reconcile. */
async function patchOwn(
  scope: Scope,
  start: RunStart,
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
