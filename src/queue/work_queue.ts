/**
 * Decides which object is reconciled next. The queue has keys, not events: a reconcile reads the
 * current object when it starts.
 */
import type { Clock } from "../base/clock.ts";
import { Schedule } from "./schedule.ts";

/**
 * The priority of a key: `fresh` for changes, `initial` for objects found at start, `resync` for
 * periodic reconciles. Keys that are due are taken in this order.
 */
export type Priority = "fresh" | "initial" | "resync";

/** The priorities, highest first. */
export const PRIORITIES: readonly Priority[] = ["fresh", "initial", "resync"];

/** Options of {@linkcode WorkQueue.add}. */
export interface AddOptions {
  /** Priority of the key. @default {"fresh"} */
  readonly priority?: Priority;
  /**
   * Whether the addition ends a backoff. A change of the object itself ends it; a change of an
   * owned object does not. @default {false}
   */
  readonly endsBackoff?: boolean;
  /**
   * Whether an object that is watched as a dependency changed. Such a change ends a backoff with
   * `yields`. @default {false}
   */
  readonly isRelated?: boolean;
  /**
   * Whether the addition ends the delay of a hot loop, because the spec changed or the object is
   * being deleted. @default {false}
   */
  readonly endsPause?: boolean;
}

/** Delays keys that are added too often. */
export interface Limit {
  /**
   * Returns the number of milliseconds that a key must wait from now, or 0 if it is not delayed.
   * Without the limit, the key would be due in `delay` milliseconds.
   */
  pauseFor(key: string, delay?: number): number;
}

/** The next reconcile of a key. */
export interface Next<Reason> {
  /** Delay in milliseconds. */
  readonly after: number;
  readonly reason: Reason;
  /**
   * Whether it is a retry after a failure. An addition ends its delay only with `endsBackoff` or
   * `isRelated`.
   */
  readonly isBackoff: boolean;
  /** Whether changes of dependencies end the backoff. @default {false} */
  readonly yields?: boolean;
}

/** A key that was taken from the queue, and the reason of its reconcile. */
export interface Work<Reason> {
  readonly key: string;
  readonly reason: Reason;
}

interface Waiting {
  readonly timer: Disposable;
  readonly next: Wait;
}

interface Wait extends Pick<Next<unknown>, "isBackoff" | "yields"> {
  /** Whether it is a delay of a key that was added too often. */
  readonly isPause?: boolean;
}

/**
 * A queue that has each key at most once, and reconciles it at most once at a time. A key that is
 * added during its reconcile is reconciled once more, however often it was added.
 *
 * @typeParam Reason The reason of a reconcile. If a key is added again, its first reason is kept.
 */
export class WorkQueue<Reason> {
  readonly #clock: Clock;
  /** The timers of the keys in `#later`. */
  readonly #schedule: Schedule;
  readonly #onReady: () => void;
  /** Keys that are due, oldest first, by priority. A key is in at most one of the maps. */
  readonly #ready: Record<Priority, Map<string, Reason>> = { fresh: new Map(), initial: new Map(), resync: new Map() };
  /** Keys that are due later. A key is never here and in `#ready` at once. */
  readonly #later = new Map<string, Waiting>();
  /** Keys that are being reconciled, with the additions during the reconcile. */
  readonly #running = new Map<
    string,
    { again: { reason: Reason; options: AddOptions } | undefined; isDropped: boolean }
  >();
  /** When each key became due, if `onTaken` is set. */
  readonly #since = new Map<string, number>();
  readonly #onTaken: ((waited: number) => void) | undefined;
  readonly #limit: Limit | undefined;
  #isClosed = false;
  /** Number of times that a key became due. */
  adds = 0;
  /** Number of retries after a failure. */
  retries = 0;

  /**
   * @param clock Measures delays.
   * @param onReady Called when a key has become due and can be taken.
   * @param onTaken Called when a key is taken, with the milliseconds since it became due.
   * @param limit Delays keys that are added too often. @default {none}
   */
  constructor(clock: Clock, onReady: () => void, onTaken?: (waited: number) => void, limit?: Limit) {
    this.#clock = clock;
    this.#schedule = new Schedule(clock);
    this.#onReady = onReady;
    this.#onTaken = onTaken;
    this.#limit = limit;
  }

  /** Returns the number of keys of a priority that are due. */
  depthOf(priority: Priority): number {
    return this.#ready[priority].size;
  }

  /** Number of keys that are due. */
  get depth(): number {
    return PRIORITIES.reduce((sum, priority) => sum + this.#ready[priority].size, 0);
  }

  /** Keys that are being reconciled. */
  get running(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** Keys that wait because they were added too often. */
  get paused(): readonly string[] {
    return [...this.#later].filter(([, { next }]) => next.isPause).map(([key]) => key);
  }

  /** Adds a key that is due now. */
  add(key: string, reason: Reason, options: AddOptions = {}): void {
    if (this.#isClosed) return;
    const run = this.#running.get(key);
    if (run !== undefined) {
      run.isDropped = false;
      run.again = { reason: run.again?.reason ?? reason, options: merge(run.again?.options, options) };
      return;
    }
    const waiting = this.#later.get(key);
    if (keepsWaiting(waiting?.next, options)) return;
    const pause = options.endsPause || this.#isReady(key) ? 0 : this.#limit?.pauseFor(key) ?? 0;
    this.#cancelLater(key);
    if (pause > 0) this.#wait(key, reason, pause, { isBackoff: false, isPause: true });
    else this.#addReady(key, reason, options.priority ?? "fresh");
  }

  /** Takes the next key that is due. Its reconcile ends with {@linkcode done}. */
  take(): Work<Reason> | undefined {
    for (const priority of PRIORITIES) {
      for (const [key, reason] of this.#ready[priority]) {
        this.#ready[priority].delete(key);
        this.#running.set(key, { again: undefined, isDropped: false });
        this.#reportTaken(key);
        return { key, reason };
      }
    }
    return undefined;
  }

  /**
   * Ends the reconcile of a key.
   *
   * @param key The key.
   * @param next The next reconcile, if one was requested. Additions during the reconcile have
   *   precedence.
   */
  done(key: string, next?: Next<Reason>): void {
    const run = this.#running.get(key);
    this.#running.delete(key);
    if (this.#isClosed) return;
    const again = run?.again;
    // Only one reconcile follows: the one that was added, unless the backoff in `next` delays it.
    if (again !== undefined && !keepsWaiting(next, again.options)) {
      this.add(key, again.reason, again.options);
    } else if (next !== undefined && !run?.isDropped) this.#addLater(key, next);
  }

  /**
   * Removes a key whose object was deleted. A running reconcile continues, but is not followed by
   * another one.
   */
  drop(key: string): void {
    this.#cancelLater(key);
    for (const priority of PRIORITIES) this.#ready[priority].delete(key);
    this.#since.delete(key);
    const run = this.#running.get(key);
    if (run === undefined) return;
    run.again = undefined;
    run.isDropped = true;
  }

  /** Removes all keys, and ignores keys that are added later. */
  close(): void {
    this.#isClosed = true;
    this.#schedule[Symbol.dispose]();
    this.#later.clear();
    for (const priority of PRIORITIES) this.#ready[priority].clear();
    this.#since.clear();
  }

  #addReady(key: string, reason: Reason, priority: Priority): void {
    for (const other of PRIORITIES) {
      const earlierReason = this.#ready[other].get(key);
      if (earlierReason === undefined) continue;
      if (PRIORITIES.indexOf(other) <= PRIORITIES.indexOf(priority)) return;
      this.#ready[other].delete(key);
      this.#ready[priority].set(key, earlierReason);
      return;
    }
    this.#ready[priority].set(key, reason);
    this.adds++;
    if (this.#onTaken !== undefined) this.#since.set(key, this.#clock.elapsed());
    this.#onReady();
  }

  #reportTaken(key: string): void {
    const since = this.#since.get(key);
    if (since === undefined) return;
    this.#since.delete(key);
    this.#onTaken?.(this.#clock.elapsed() - since);
  }

  #isReady(key: string): boolean {
    return PRIORITIES.some((priority) => this.#ready[priority].has(key));
  }

  #addLater(key: string, { after, reason, isBackoff, yields }: Next<Reason>): void {
    if (isBackoff) this.retries++;
    const pause = this.#limit?.pauseFor(key, after) ?? 0;
    const wait = { isBackoff, ...(yields === undefined ? {} : { yields }), isPause: pause > after };
    this.#wait(key, reason, Math.max(after, pause), wait);
  }

  #wait(key: string, reason: Reason, after: number, next: Wait): void {
    // A delay of 0 uses the schedule, too. Otherwise an object that always requeues immediately
    // would starve other objects and the process.
    const timer = this.#schedule.after(after, () => {
      this.#later.delete(key);
      this.#addReady(key, reason, "fresh");
    });
    this.#later.set(key, { timer, next });
  }

  #cancelLater(key: string): void {
    this.#later.get(key)?.timer[Symbol.dispose]();
    this.#later.delete(key);
  }
}

/** Returns whether a wait continues when its key is added with these options. */
function keepsWaiting(wait: Wait | undefined, added: AddOptions): boolean {
  if (wait?.isPause) return !added.endsPause;
  return Boolean(wait?.isBackoff && !added.endsBackoff && !(wait.yields && added.isRelated));
}

function merge(earlier: AddOptions | undefined, added: AddOptions): AddOptions {
  const priorities = [earlier?.priority ?? "resync", added.priority ?? "fresh"] as const;
  return {
    priority: PRIORITIES.find((priority) => priorities.includes(priority))!,
    endsBackoff: Boolean(earlier?.endsBackoff || added.endsBackoff),
    isRelated: Boolean(earlier?.isRelated || added.isRelated),
    endsPause: Boolean(earlier?.endsPause || added.endsPause),
  };
}
