/**
 * Detects hot loops: objects that are reconciled over and over. Delays their reconciles, and
 * reports them in the log, as an Event and in the object's status.
 */
import type { ReconcileReason } from "../parts/context.ts";
import { effectOf, LoopLimit, type Pause } from "../queue/loop_limit.ts";
import type { Limit, Next } from "../queue/work_queue.ts";
import type { KubeObject } from "../resource/kind.ts";
import { ownsStatus } from "../resource/ownership.ts";
import type { ObjectKey } from "../watch/key.ts";
import { explainLoop, HOT_LOOP, type HotLoop } from "./hot_loops.ts";
import type { Logger } from "./logger.ts";
import { LoopTrace, type LoopTrigger, type ReconcileEffects } from "./loop_trace.ts";
import { type LoopScope, ownCache } from "./scope.ts";

// A hot loop has ended when no reconcile of the object was delayed or repeated its writes for this
// long, in milliseconds: twice the longest delay.
const LOOP_END = 60_000;

// A loop whose reconciles still write new values may settle soon. It is reported when its delays
// reach this, in milliseconds.
const REPORTED_DELAY = 1000;

/** An object in a hot loop. */
interface ReportedLoop {
  /**
   * When a reconcile of the object was last delayed or repeated its writes, in monotonic
   * milliseconds.
   */
  last: number;
  /**
   * Writes to the object. They show whether the loop continues, even if only the other controller
   * in it is delayed.
   */
  readonly trace: LoopTrace;
  timer: Disposable;
}

/**
 * Detects the hot loops of a controller loop, and limits how often their objects are reconciled.
 */
export class HotLoopDetector implements Limit {
  readonly #scope: LoopScope;
  readonly #onEnd: (key: ObjectKey) => void;
  readonly #limit: LoopLimit<LoopTrace>;
  /** Objects in hot loops that were reported. */
  readonly #reported = new Map<ObjectKey, ReportedLoop>();

  /**
   * @param scope The scope of the loop.
   * @param onEnd Called when the hot loop of an object has ended and one more reconcile is needed,
   *   which removes the condition.
   */
  constructor(scope: LoopScope, onEnd: (key: ObjectKey) => void) {
    this.#scope = scope;
    this.#onEnd = onEnd;
    this.#limit = new LoopLimit({
      clock: scope.clock,
      trace: () => new LoopTrace(),
      onPause: (key, pause) => this.#delayed(key, pause),
    });
  }

  pauseFor(key: string, delay?: number): number {
    return this.#limit.pauseFor(key, delay);
  }

  /**
   * Ends the delay of an object whose spec was changed.
   *
   * @returns Whether its next reconcile is immediate: false if the spec itself changes repeatedly.
   */
  reset(key: ObjectKey): boolean {
    return this.#limit.reset(key);
  }

  /**
   * Returns the record of writes of an object that may be in a hot loop; `undefined` for most
   * objects.
   */
  traceOf(key: ObjectKey): LoopTrace | undefined {
    return this.#reported.get(key)?.trace ?? this.#limit.traceOf(key);
  }

  /** Records what enqueued an object. */
  triggered(key: ObjectKey, reason: ReconcileReason, change: LoopTrigger["change"]): void {
    const trace = this.traceOf(key);
    if (trace !== undefined) trace.trigger = { reason, change };
  }

  /** Records the effects of a reconcile, and the next one that it requested. */
  reconciled(
    key: ObjectKey,
    { wrote, repeated, trace }: ReconcileEffects,
    next: Next<ReconcileReason> | undefined,
  ): void {
    if (trace !== undefined) {
      trace.requeuedAfter = next?.reason === "requeued" ? next.after : undefined;
      if (next !== undefined) trace.trigger = { reason: next.reason, change: undefined };
    }
    const reported = this.#reported.get(key);
    if (reported !== undefined && repeated) reported.last = this.#scope.clock.elapsed();
    this.#limit.ended(key, effectOf({ wrote, repeated, after: next?.after }));
  }

  /** Describes why an object does not converge. */
  describe(key: ObjectKey): string {
    const { loop, unit: { kind } } = this.#scope;
    const { message, trigger } = this.#explain(key);
    return `controller "${loop}" does not converge on ${kind.kind} "${key}". ${message} Last trigger: ${trigger}.`;
  }

  /** Removes all state of a deleted object. */
  forget(key: ObjectKey): void {
    this.#limit.forget(key);
    this.#end(key);
  }

  /** Stops the timers. */
  close(): void {
    for (const { timer } of this.#reported.values()) timer[Symbol.dispose]();
  }

  /** Called when a reconcile is delayed because its object is in a hot loop. */
  #delayed(key: ObjectKey, { length, isRepeat }: Pause): void {
    this.#scope.counts.delayedReconciles++;
    const now = this.#scope.clock.elapsed();
    const reported = this.#reported.get(key);
    if (reported !== undefined) reported.last = now;
    else if (isRepeat || length >= REPORTED_DELAY) this.#begin(key, now);
  }

  #begin(key: ObjectKey, now: number): void {
    const { hotLoops, unit, loop: name, events, manager: reporter } = this.#scope;
    const object = ownCache(this.#scope).get(key);
    if (object === undefined) return;
    const loop = this.#explain(key);
    const { message, trigger, kind, object: written, field, manager, otherManager } = loop;
    const trace = this.traceOf(key) ?? new LoopTrace();
    this.#reported.set(key, { last: now, trace, timer: this.#watch(key, LOOP_END) });
    hotLoops.begin(unit.kind, key, name, loop);
    this.#logOf(object).warn("Hot loop detected", {
      cause: message,
      trigger,
      ...(field === "" ? {} : { writtenKind: kind, writtenObject: written, field, manager, otherManager }),
    });
    events.record(reporter, object, { type: "Warning", reason: HOT_LOOP, note: message });
  }

  #logOf({ metadata: { namespace, name, uid } }: KubeObject): Logger {
    return this.#scope.log.with({ ...(namespace === undefined ? {} : { namespace }), name, uid });
  }

  #explain(key: ObjectKey): HotLoop {
    return explainLoop(this.traceOf(key) ?? new LoopTrace(), this.#scope.manager);
  }

  /**
   * Checks after a delay, in milliseconds, whether a loop has ended. Until then it checks again.
   */
  #watch(key: ObjectKey, after: number): Disposable {
    const { clock, unit } = this.#scope;
    return clock.after(after, () => {
      const loop = this.#reported.get(key);
      if (loop === undefined) return;
      const left = loop.last + LOOP_END - clock.elapsed();
      if (left > 0) return void (loop.timer = this.#watch(key, left));
      this.#end(key);
      const object = ownCache(this.#scope).get(key);
      if (object === undefined) return;
      this.#logOf(object).info("Hot loop ended");
      if (ownsStatus(unit.kind) && unit.writesStatus) this.#onEnd(key);
    });
  }

  #end(key: ObjectKey): void {
    this.#reported.get(key)?.timer[Symbol.dispose]();
    const { hotLoops, unit, loop } = this.#scope;
    if (this.#reported.delete(key)) hotLoops.end(unit.kind, key, loop);
  }
}
