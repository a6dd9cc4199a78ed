/**
 * Delays the reconciles of an object that is reconciled in a loop: two controllers that change the
 * same field back and forth, or a reconciler that always requests the next reconcile immediately.
 *
 * It is a leaky bucket per key. Each reconcile that can cause another one adds 1, and 1 leaks out
 * per second. While the bucket is below {@linkcode BURST}, reconciles are not delayed. Above it,
 * each delay is a tenth of the time that the loop has lasted. If the object settles in the end, it
 * took at most about 10 % longer because of the delays.
 *
 * Crossplane's circuit breaker (crossplane/crossplane#6777) is the model for the bucket. Its issues
 * explain the differences: reconciles count, not events (#6910, #7108), triggers are delayed and
 * never dropped (#7703), and the bucket of a deleted object is removed (#7200).
 */
import type { Clock } from "../base/clock.ts";

/** Number of reconciles in a row that are never delayed. */
export const BURST = 50;

/** Longest delay between two reconciles of a loop, in milliseconds. */
export const LONGEST_PAUSE = 30_000;

/** Longest delay while reconciles still write something new, in milliseconds. */
export const LONGEST_PAUSE_OF_PROGRESS = 1000;

const SHORTEST_PAUSE = 100;

/**
 * A requeue after a shorter delay counts as immediate. A longer delay was chosen deliberately. In
 * milliseconds.
 */
const IMMEDIATE = 100;

/** Share of the loop's duration that each delay lasts. */
const SHARE = 0.1;

/**
 * How far the bucket can fill beyond the burst. Because 1 leaks out per second, an object that is
 * not reconciled for this number of seconds is no longer delayed.
 */
const OVERFLOW = 10;

/**
 * The level at which recording the writes of reconciles begins. It is below the burst, so that
 * repeated writes are known when the delays begin.
 */
const TRACE_LEVEL = BURST / 2;

/**
 * How often empty buckets are removed, in milliseconds. The bucket of an object that was reconciled
 * once is empty after a second.
 */
const SWEEP = 1000;

/**
 * Whether a reconcile can cause the next one. `none`: it neither wrote nor requested another
 * reconcile within a second. `repeat`: it repeated an earlier write, or requested the next
 * reconcile immediately. `progress`: any other case.
 */
export type Effect = "none" | "progress" | "repeat";

/** The facts about a reconcile that {@linkcode effectOf} classifies. */
export interface Reconciled {
  /** Whether it sent a write. */
  readonly wrote: boolean;
  /**
   * Whether it wrote a value that it had written before and that another writer had changed since.
   */
  readonly repeated: boolean;
  /**
   * Delay until the next reconcile that it requested, in milliseconds. `undefined` if it requested
   * none.
   */
  readonly after: number | undefined;
}

/** Classifies a reconcile. */
export function effectOf({ wrote, repeated, after = Infinity }: Reconciled): Effect {
  if (repeated || after < IMMEDIATE) return "repeat";
  return wrote || after < 1000 ? "progress" : "none";
}

/** A delay that was imposed. */
export interface Pause {
  /** In milliseconds. */
  readonly length: number;
  /** Whether the effect of the last reconcile was `repeat`. */
  readonly isRepeat: boolean;
}

interface Bucket<Trace> {
  level: number;
  /** When `level` was computed: at the end of the last reconcile that counted. */
  at: number;
  /**
   * Milliseconds of imposed delay since `at`. The bucket does not leak during a delay: otherwise
   * the delay itself would end the detection of the loop.
   */
  paused: number;
  /** When the level last rose above the burst. */
  since: number | undefined;
  isRepeat: boolean;
  /**
   * Number of spec changes that emptied the bucket. It leaks like `level`, and is limited because
   * two writers may alternately change the spec itself.
   */
  resets: number;
  trace: Trace | undefined;
}

/** Options of {@linkcode LoopLimit}. */
export interface LoopLimitOptions<Trace> {
  readonly clock: Clock;
  /** Creates the recorder of writes for an object that is about to be delayed. */
  readonly trace: () => Trace;
  /** Called with each delay that is imposed. */
  readonly onPause: (key: string, pause: Pause) => void;
}

/**
 * Decides how long an object waits between reconciles.
 *
 * @typeParam Trace Records what the reconciles of one object write.
 */
export class LoopLimit<Trace> {
  readonly #options: LoopLimitOptions<Trace>;
  /** Buckets by key. Each sweep removes the empty ones. */
  readonly #buckets = new Map<string, Bucket<Trace>>();
  #swept = 0;

  constructor(options: LoopLimitOptions<Trace>) {
    this.#options = options;
  }

  /** Number of objects that have a bucket. */
  get size(): number {
    return this.#buckets.size;
  }

  /**
   * The trace of an object that was reconciled many times in a row; `undefined` for nearly all
   * objects.
   */
  traceOf(key: string): Trace | undefined {
    return this.#buckets.get(key)?.trace;
  }

  /** Counts a finished reconcile. */
  ended(key: string, effect: Effect): void {
    if (effect === "none") return;
    const now = this.#options.clock.elapsed();
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) this.#buckets.set(key, bucket = newBucket(now));
    leak(bucket, now);
    bucket.level = Math.min(BURST + OVERFLOW, bucket.level + 1);
    bucket.since = bucket.level < BURST ? undefined : bucket.since ?? now;
    bucket.isRepeat = effect === "repeat";
    bucket.trace = bucket.level < TRACE_LEVEL ? undefined : bucket.trace ?? this.#options.trace();
    if (now - this.#swept >= SWEEP) this.#sweep(now);
  }

  /**
   * Returns how long the next reconcile of an object has to wait.
   *
   * @param key The object.
   * @param delay Milliseconds until the reconcile is due without the limit.
   * @returns Milliseconds from now; 0 if it does not have to wait.
   */
  pauseFor(key: string, delay = 0): number {
    const bucket = this.#buckets.get(key);
    if (bucket?.since === undefined) return 0;
    const now = this.#options.clock.elapsed();
    if (levelAt(bucket, now + delay) < BURST) return 0;
    const longest = bucket.isRepeat ? LONGEST_PAUSE : LONGEST_PAUSE_OF_PROGRESS;
    const length = Math.min(longest, Math.max(SHORTEST_PAUSE, Math.floor((now - bucket.since) * SHARE)));
    const wait = bucket.at + length - now;
    if (wait <= delay) return 0;
    bucket.paused += wait - delay;
    this.#options.onPause(key, { length, isRepeat: bucket.isRepeat });
    return wait;
  }

  /**
   * Ends the delay of an object whose spec was changed.
   *
   * @returns Whether its next reconcile is immediate: false if the spec itself changes repeatedly.
   */
  reset(key: string): boolean {
    const bucket = this.#buckets.get(key);
    if (bucket === undefined) return true;
    const now = this.#options.clock.elapsed();
    if (bucket.resets - leaked(bucket, now) >= BURST) return false;
    leak(bucket, now);
    Object.assign(bucket, { level: 0, since: undefined, trace: undefined, resets: bucket.resets + 1 });
    return true;
  }

  /** Forgets an object that was deleted. */
  forget(key: string): void {
    this.#buckets.delete(key);
  }

  #sweep(now: number): void {
    this.#swept = now;
    for (const [key, bucket] of this.#buckets) {
      if (Math.max(bucket.level, bucket.resets) <= leaked(bucket, now)) this.#buckets.delete(key);
    }
  }
}

function newBucket<Trace>(now: number): Bucket<Trace> {
  return { level: 0, at: now, paused: 0, since: undefined, isRepeat: false, resets: 0, trace: undefined };
}

/** Returns how much has leaked by `time`: 1 per second, except during imposed delays. */
function leaked({ at, paused }: Bucket<unknown>, time: number): number {
  return Math.max(0, time - at - paused) / 1000;
}

function levelAt(bucket: Bucket<unknown>, time: number): number {
  return bucket.level - leaked(bucket, time);
}

function leak(bucket: Bucket<unknown>, now: number): void {
  const loss = leaked(bucket, now);
  bucket.level = Math.max(0, bucket.level - loss);
  bucket.resets = Math.max(0, bucket.resets - loss);
  bucket.at = now;
  bucket.paused = 0;
}
