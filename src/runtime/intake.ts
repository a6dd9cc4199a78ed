/** Turns changes in the cluster into keys of objects that must be reconciled. */
import { equal } from "../base/json.ts";
import type { AddOptions, Priority } from "../queue/work_queue.ts";
import type { KubeObject } from "../resource/kind.ts";
import { keyOf, type ObjectKey } from "../watch/key.ts";
import type { Writer } from "../watch/own_writes.ts";
import type { StoreChange } from "../watch/store.ts";
import { type LoopScope, ownCache, watchOf } from "./scope.ts";
import { runTriggers } from "./triggers.ts";
import { type Add, isRelevant, listenToWatchedKinds, tracedChange } from "./watched_changes.ts";

/** The parts of a loop that changes affect. */
export interface IntakeTarget {
  /** Enqueues an object because of a change or a trigger. */
  readonly add: Add;
  /** Enqueues an object that was found at start. */
  addInitial(key: ObjectKey, options?: AddOptions): void;
  /** Removes all state of an object that was deleted or replaced. */
  forget(key: ObjectKey, object: KubeObject): void;
  /** Called when an object is being deleted. Aborts a reconcile that started before. */
  deletionBegan(key: ObjectKey): void;
  /** Returns whether an object is reconciled only after a change other than of its own status. */
  isStalled(key: ObjectKey): boolean;
  /** Ends the delay of a hot loop. Returns whether the next reconcile is immediate. */
  resetDelay(key: ObjectKey): boolean;
}

/** The changes that concern a loop: of its own kind, of kinds that it watches, and its triggers. */
export class Intake {
  readonly #scope: LoopScope;
  readonly #target: IntakeTarget;

  /**
   * @param scope The scope of the loop.
   * @param target What the changes affect.
   */
  constructor(scope: LoopScope, target: IntakeTarget) {
    this.#scope = scope;
    this.#target = target;
    ownCache(scope).listen((change, by, initial) => this.#onOwnChange(change, by, initial));
    listenToWatchedKinds(scope, target.add);
  }

  /** Enqueues all objects of the loop's kind. */
  addAll(): void {
    for (const object of ownCache(this.#scope).values()) {
      if (this.#isWanted(object)) this.#target.addInitial(keyOf(object.metadata));
    }
  }

  /** Runs the triggers until the signal is aborted. */
  runTriggers(signal: AbortSignal): void {
    runTriggers(this.#scope, this.#target.add, signal);
  }

  #onOwnChange(change: StoreChange, by: Writer | undefined, initial: boolean): void {
    const { before, after } = change;
    const target = this.#target;
    const key = keyOf((after ?? before)!.metadata);
    if (after === undefined) return target.forget(key, before!);
    const isNew = before === undefined || before.metadata.uid !== after.metadata.uid;
    // A new list has another object of that name, so the deletion of the old one was missed.
    if (before !== undefined && isNew) target.forget(key, before);
    const isDeleting = after.metadata.deletionTimestamp !== undefined;
    if (isDeleting) target.deletionBegan(key);
    // The response to a write may contain earlier changes of other writers. Those must trigger a
    // reconcile, because no watch event will bring them again.
    const isOwn = by?.part === this.#scope.loop && by.key === key;
    if (isOwn && before !== undefined && isStatusOrFinalizerChange(before, after)) {
      this.#scope.counts.ownEvents++;
      return;
    }
    const startsDeletion = !isNew && isDeleting !== (before.metadata.deletionTimestamp !== undefined);
    if (isNew ? !this.#isWanted(after) : !startsDeletion && !this.#isRelevant(before, after)) return;
    // Otherwise two controllers that report permanent errors would trigger each other forever.
    if (!isNew && target.isStalled(key) && isStatusOrFinalizerChange(before, after)) return;
    const endsBackoff = isNew || startsDeletion ||
      after.metadata.generation === undefined || after.metadata.generation !== before.metadata.generation;
    // A spec change by the controller itself is not a request of a user.
    const isSpecChange = !isNew && !isOwn && after.metadata.generation !== before.metadata.generation;
    const endsPause = isNew || startsDeletion || (isSpecChange && target.resetDelay(key));
    if (initial) target.addInitial(key, { endsBackoff, endsPause });
    else target.add(key, "changed", { priority: this.#priority, endsBackoff, endsPause }, tracedChange(change, by));
  }

  get #priority(): Priority {
    const { unit } = this.#scope;
    return watchOf(unit, unit.kind)?.priority === "low" ? "resync" : "fresh";
  }

  /**
   * Returns whether an object that is new or found at start must be reconciled, by the user's
   * predicates. Always true for an object that must be cleaned up.
   */
  #isWanted(object: KubeObject): boolean {
    const { deletionTimestamp, finalizers } = object.metadata;
    const { unit } = this.#scope;
    const hasFinalizer = finalizers?.includes(unit.finalizer) || unit.orphanedFinalizers.in(finalizers).length > 0;
    if (deletionTimestamp !== undefined && hasFinalizer) return true;
    return isRelevant(this.#scope, watchOf(unit, unit.kind), { before: undefined, after: object });
  }

  /**
   * Returns whether a change triggers a reconcile, by the user's predicates. Always true when the
   * change pauses or resumes the object.
   */
  #isRelevant(before: KubeObject, after: KubeObject): boolean {
    const { unit, paused } = this.#scope;
    return isPaused(before, paused) !== isPaused(after, paused) ||
      isRelevant(this.#scope, watchOf(unit, unit.kind), { before, after });
  }
}

/** Returns whether an annotation pauses an object: with any value except `false`. */
export function isPaused({ metadata }: KubeObject, annotation: string): boolean {
  const value = metadata.annotations?.[annotation];
  return value !== undefined && value !== "false";
}

/** Returns whether a change affects only status and finalizers, so it triggers no reconcile. */
function isStatusOrFinalizerChange(before: KubeObject, after: KubeObject): boolean {
  const { metadata: old, ...oldRest } = before as KubeObject & { status?: unknown };
  const { metadata: now, ...nowRest } = after as KubeObject & { status?: unknown };
  return old.uid === now.uid && old.deletionTimestamp === now.deletionTimestamp && old.generation === now.generation &&
    equal(old.labels, now.labels) && equal(old.annotations, now.annotations) &&
    // For kinds without a generation, the content itself is compared.
    (now.generation !== undefined || equal({ ...oldRest, status: undefined }, { ...nowRest, status: undefined }));
}
