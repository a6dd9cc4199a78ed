/** Runs the reconciles of a loop concurrently, and aborts them. */
import { aborted } from "../base/abort.ts";
import { type Clock, sleep } from "../base/clock.ts";
import type { ObjectKey } from "../watch/key.ts";
import type { ReconcileEffects } from "./loop_trace.ts";

// How long a reconcile may take to end after its signal is aborted by the deadline, in
// milliseconds.
const ABORT_GRACE_PERIOD = 100;

/** A reconcile that starts. */
export interface StartedReconcile<Result> {
  /** Whether the object is being deleted. */
  readonly isDeleting: boolean;
  /** The effects of the reconcile, and its waits. */
  readonly effects: ReconcileEffects;
  /** Reconciles the object. It must not reject. */
  call(signal: AbortSignal): Promise<Result>;
}

/** An object that is being reconciled. */
interface RunningObject {
  readonly abort: AbortController;
  readonly reconcile: StartedReconcile<unknown>;
  readonly ended: Promise<void>;
  /** When the reconcile started, in monotonic milliseconds. */
  readonly since: number;
}

/**
 * Runs reconciles, at most one per object and `concurrency` in total.
 *
 * @typeParam Result The result of a reconcile.
 */
export class ReconcileRunner<Result> {
  /** Number of reconciles that started plus the number that ended. */
  activity = 0;
  readonly #clock: Clock;
  readonly #concurrency: number;
  readonly #onEnd: (key: ObjectKey, result: Result, effects: ReconcileEffects) => void;
  readonly #running = new Map<ObjectKey, RunningObject>();
  /** Calls that belong to no reconcile. */
  readonly #followed = new Map<Promise<void>, AbortController>();

  /**
   * @param clock Measures durations.
   * @param concurrency The number of reconciles that run at once.
   * @param onEnd Called when a reconcile has ended, with its result and its effects.
   */
  constructor(
    clock: Clock,
    concurrency: number,
    onEnd: (key: ObjectKey, result: Result, effects: ReconcileEffects) => void,
  ) {
    this.#clock = clock;
    this.#concurrency = concurrency;
    this.#onEnd = onEnd;
  }

  /** Whether another reconcile may start. */
  get hasCapacity(): boolean {
    return this.#running.size < this.#concurrency;
  }

  /** The objects that are being reconciled. */
  get keys(): readonly ObjectKey[] {
    return [...this.#running.keys()];
  }

  /** Seconds since the start of each running reconcile. */
  get seconds(): readonly number[] {
    return [...this.#running.values()].map(({ since }) => (this.#clock.elapsed() - since) / 1000);
  }

  /** Number of reconciles that wait in `sleep` of their context. */
  get sleeping(): number {
    return [...this.#running.values()].filter(({ reconcile: { effects } }) => effects.sleeps.size > 0).length;
  }

  /**
   * Starts a reconcile.
   *
   * @param key The object.
   * @param reconcile Reconciles it.
   */
  start(key: ObjectKey, reconcile: StartedReconcile<Result>): void {
    this.activity++;
    const abort = new AbortController();
    const ended = this.#run(key, abort.signal, reconcile);
    this.#running.set(key, { abort, reconcile, ended, since: this.#clock.elapsed() });
  }

  async #run(key: ObjectKey, signal: AbortSignal, reconcile: StartedReconcile<Result>): Promise<void> {
    // The reconcile must be in #running before the user's code runs.
    await Promise.resolve();
    const result = await reconcile.call(signal);
    this.activity++;
    this.#running.delete(key);
    reconcile.effects.cancelSleeps();
    this.#onEnd(key, result, reconcile.effects);
  }

  /** Number of calls that belong to no reconcile and have not ended. */
  get followed(): number {
    return this.#followed.size;
  }

  /**
   * Runs a call that belongs to no reconcile. It ends with the reconciles.
   *
   * @param call The call. It must not reject.
   */
  follow(call: (signal: AbortSignal) => Promise<void>): void {
    const abort = new AbortController();
    this.activity++;
    const ended = call(abort.signal).then(() => {
      this.activity++;
      this.#followed.delete(ended);
    });
    this.#followed.set(ended, abort);
  }

  /** Aborts the reconcile of an object. */
  abort(key: ObjectKey, reason: unknown): void {
    this.#running.get(key)?.abort.abort(reason);
  }

  /** Aborts a reconcile that started before the object's deletion did. */
  abortBeforeDeletion(key: ObjectKey): void {
    const running = this.#running.get(key);
    if (running === undefined || running.reconcile.isDeleting) return;
    running.abort.abort(new DOMException("The object is being deleted", "AbortError"));
  }

  /** Aborts all reconciles. */
  abortAll(reason: unknown): void {
    for (const { abort } of this.#running.values()) abort.abort(reason);
    for (const abort of this.#followed.values()) abort.abort(reason);
  }

  /**
   * Waits until all reconciles have ended.
   *
   * @param deadline When aborted, aborts them. Reconciles that ignore their signal are abandoned:
   *   they can no longer write.
   */
  async end(deadline: AbortSignal): Promise<void> {
    await Promise.race([
      this.#allEnded(),
      aborted(deadline).then(() => {
        this.abortAll(deadline.reason);
        return this.#endAborted();
      }),
    ]);
  }

  /** Waits a moment for reconciles that respond to their signal. */
  async #endAborted(): Promise<void> {
    await Promise.race([this.#allEnded(), sleep(this.#clock, ABORT_GRACE_PERIOD).catch(() => undefined)]);
  }

  #allEnded(): Promise<unknown> {
    return Promise.all([...[...this.#running.values()].map(({ ended }) => ended), ...this.#followed.keys()]);
  }
}
