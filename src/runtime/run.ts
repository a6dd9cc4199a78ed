/** One run of one object: finalizer, the user's function, status. */
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
import { isSame, ownCopy, type Scope, write } from "./scope.ts";
import { HOT_LOOP } from "./hot_loops.ts";
import { StatusDraft, statusOf } from "./status.ts";
import { traceWrite } from "./traced_writes.ts";

/** When an object is to be reconciled again. */
export interface NextReconcile {
  /** Milliseconds from now. */
  readonly after: number;
}

/** A run before its object is looked at. */
export type RunStart = Omit<Run, "draft">;

/**
 * Runs an object.
 *
 * @returns What the reconciler returned.
 * @throws What the reconciler threw, or what a write of the run met.
 */
export async function runObject(scope: Scope, start: RunStart): Promise<NextReconcile | undefined> {
  const { controller, finalizer } = scope;
  const { finalizers = [], deletionTimestamp } = start.object.metadata;
  const cleans = controller.cleanup !== undefined;
  const isDeleting = deletionTimestamp !== undefined;
  const left = scope.leftFinalizers.in(finalizers);
  // What removed controllers left goes with the same patch as the controller's own.
  const own = finalizers.includes(finalizer) ? [finalizer] : [];
  const isHeld = cleans && !isDeleting
    ? own.length > 0 && left.length === 0
    : own.length + left.length > 0 && mayRemoveFinalizers(scope, start, [...own, ...left]);
  switch (runStep(cleans, isHeld, isDeleting)) {
    case "nothing":
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
 * Whether the role of the controller allows to remove finalizers. Objects of kinds of others may be changed only with a cleanup, or if `uses` says so: a
 * finalizer that an earlier version left must not keep the object from being reconciled.
 */
function mayRemoveFinalizers(
  { controller: { kind, uses, cleanup } }: Scope,
  { log }: RunStart,
  [finalizer = ""]: readonly string[],
): boolean {
  if (isOwnKind(kind) || cleanup !== undefined) return true;
  if (uses.some((access) => isSame(access.kind, kind) && access.verbs.includes("patch"))) return true;
  log.warn("Finalizer of an earlier version left", {
    finalizer,
    fix: `Add access(${kind.kind}, "patch") to "uses" until no object has it: without it, the object cannot be deleted`,
  });
  return false;
}

/** An object that went meanwhile is not reconciled: what was made for it, nobody would clean up. */
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
  scope.verdicts.note(kind, key, scope.part, undefined);
  const beside = scope.verdicts.beside(kind, key, scope.part);
  if (ownsStatus(kind)) {
    run.draft.offerCondition(
      beside === undefined
        ? { type: "Ready", status: "True", reason: "Reconciled" }
        : { type: "Ready", status: "False", reason: beside.reason, message: beside.message },
    );
  }
  // Another controller's failure is reported in the same condition, and goes first.
  if (beside === undefined) offerHotLoop(scope, run);
  await writeStatus(scope, run, beside === undefined ? ["Reconciling", "Stalled", "Paused"] : ["Paused"]);
  return outcome;
}

/** Reports that the object is reconciled over and over. */
function offerHotLoop(scope: Scope, { object, draft }: Run): void {
  const { hotLoops, controller: { kind } } = scope;
  const message = ownsStatus(kind) ? hotLoops.messageFor(kind, liveCopy(scope, object)) : undefined;
  if (message !== undefined) draft.offerCondition({ type: "Reconciling", status: "True", reason: HOT_LOOP, message });
}

/** The object goes when its last finalizer does, so nothing is reported of a cleanup that worked. */
async function cleanup(scope: Scope, start: RunStart): Promise<NextReconcile | undefined> {
  const run = { ...start, draft: new StatusDraft() };
  const outcome = checked(
    scope,
    "cleanup",
    await timed(scope, run, (run) => scope.controller.cleanup!(run.object, contextOf(scope, run))),
  );
  // Asking for another run says that it is not done: the object stays until it is.
  if (outcome !== undefined) {
    offerHotLoop(scope, run);
    await writeStatus(scope, run, []);
    return outcome;
  }
  await removeFinalizer(scope, start);
  return undefined;
}

/** Checks what user code returned: its types may be unchecked, and a wrong time would reconcile without a pause, or never again. */
function checked(scope: Scope, what: string, outcome: unknown): NextReconcile | undefined {
  if (outcome === undefined || outcome === null) return undefined;
  const { after, at } = outcome as Requeue;
  if (typeof after === "number" && after >= 0) return { after };
  if (typeof at === "number" && !Number.isNaN(at)) return { after: Math.max(0, at - scope.clock.now()) };
  throw new TypeError(
    `Cannot take what "${what}" answered, ${
      Deno.inspect(maskSecrets(outcome), { depth: 1 })
    }: answer nothing, or requeue("10m")`,
  );
}

/** Reports a failed reconcile in the object's status. In the status of a kind that others define, `Ready` has a meaning of theirs: it is not written. */
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

/** Reports in the status of an object of an own kind that it is paused, as its annotation asks. */
export async function reportPaused(scope: Scope, start: RunStart): Promise<void> {
  if (!ownsStatus(scope.controller.kind)) return;
  const draft = new StatusDraft();
  draft.addCondition({
    type: "Paused",
    status: "True",
    reason: "PausedByAnnotation",
    message: `It has the annotation "${scope.paused}"`,
  });
  // What was changed meanwhile has not been looked at: the generation observed stays what it was.
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
    limit.abort(new DOMException(`The run took longer than ${timeout}`, "TimeoutError"));
  });
  // A reconciler that does not heed its signal must not hold the object for ever.
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
  // What another writer changed during the run is in the live copy.
  const now = liveCopy(scope, run.object);
  // Another of the same name stands there: the status of this one is not its own.
  if (now.metadata.uid !== metadata.uid) return;
  if (!isOwnKind(kind)) return await writeForeignStatus(scope, run, now);
  const status = kept(kind, run.draft.patch(now, metadata.generation, drops, scope.clock.now()));
  if (status === undefined) return;
  // A merge patch replaces the list of conditions whole: when others' are in it, the server has to see that none changed meanwhile.
  const guard = run.draft.keepsOthers(now) ? { metadata: { resourceVersion: now.metadata.resourceVersion } } : {};
  await patchOwn(scope, run, { ...guard, status }, "status");
}

/**
 * Writes what a reconciler reported into a status that others define, and may write too: lists such as an HTTPRoute's `parents` have an entry for each
 * implementation. A merge patch replaces a list whole, so the write fails, and the reconcile is repeated, if the status changed since the reconciler read it.
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

/** A patch without what is added to each status, where the kind has no place for it: it would be forgotten, and sent again with every run. */
function kept(kind: AnyKind, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const entries = Object.entries(patch).filter(([name]) => !ADDED.includes(name) || keepsInStatus(kind, name));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

const ADDED: readonly string[] = ["conditions", "observedGeneration"];

/** What stands in the live copy under the object's name; the object itself where nothing does. */
function liveCopy(scope: Scope, object: KubeObject): KubeObject {
  return ownCopy(scope).get(keyOf(object.metadata)) ?? object;
}

async function addFinalizer(scope: Scope, start: RunStart): Promise<KubeObject | undefined> {
  const { resourceVersion, finalizers = [] } = start.object.metadata;
  const rest = withoutOwn(scope, start, finalizers);
  return await patchOwn(scope, start, { metadata: { resourceVersion, finalizers: [...rest, scope.finalizer] } });
}

async function removeFinalizer(scope: Scope, start: RunStart): Promise<KubeObject | undefined> {
  // As it is now: another controller may have taken its own finalizer off while this one cleaned up.
  const { uid, resourceVersion, finalizers = [] } = liveCopy(scope, start.object).metadata;
  if (uid !== start.object.metadata.uid) return undefined;
  const rest = withoutOwn(scope, start, finalizers);
  return await patchOwn(scope, start, { metadata: { resourceVersion, finalizers: rest } });
}

/** The finalizers of others: neither the controller's own, nor what removed controllers of the operator left. */
function withoutOwn(scope: Scope, { log }: RunStart, finalizers: readonly string[]): string[] {
  const left = scope.leftFinalizers.in(finalizers);
  if (left.length > 0) log.info("Finalizers of removed controllers released", { finalizers: left });
  return finalizers.filter((name) => name !== scope.finalizer && !left.includes(name));
}

/** Patches the object of a run; answers nothing when it is gone, which ends what the run had to do. */
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
