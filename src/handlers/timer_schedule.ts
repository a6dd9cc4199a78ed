/** Calculates when a timer is called for an object. All times are milliseconds since the epoch. */
import { type Duration, milliseconds } from "../base/duration.ts";
import { fnv1a } from "../base/fnv.ts";
import type { CronSchedule } from "./cron.ts";

/** How often a timer is called. */
export type Recurrence =
  | {
    /** Milliseconds between the end of a call and the next one. */
    readonly interval: number;
    /** Whether the interval counts from the time at which a call was due, not from its end. */
    readonly fixedRate: boolean;
  }
  | { readonly cron: CronSchedule };

/** The schedule of a timer. */
export interface TimerSchedule {
  readonly recurrence: Recurrence;
  /** Milliseconds without a relevant change that precede each call. @default {0} */
  readonly idle?: number | undefined;
  /**
   * `runOnce`: if a call was due while no process ran, the timer is called at the start. `skip`: it
   * is called at its next regular time. @default {"skip"}
   */
  readonly missedRuns?: "runOnce" | "skip" | undefined;
}

/** The state of a timer for an object. It is in memory only. */
export interface TimerState {
  readonly uid: string;
  /** When the object was created. */
  readonly createdAt: number;
  /** When the timer started for the object. A timer that was paused starts again. */
  readonly startedAt: number;
  /** Whether the object existed when this process became the leader, or when a pause ended. */
  readonly isFoundAtStart: boolean;
  /** Milliseconds between the creation of the object and its first call. @default {0} */
  readonly initialDelay?: number | undefined;
  /** When a field changed last that diffs consider. */
  readonly changedAt: number;
  /** When the previous leader renewed its Lease last, if that is known. */
  readonly lastRenewedAt?: number | undefined;
  /** The last call in this term; `undefined` before the first one. */
  readonly last?: TimerCall | undefined;
}

/** A call of a timer that ended. */
export interface TimerCall {
  /** The regular time of the call: {@linkcode DueTimer.tick}. */
  readonly tick: number;
  readonly endedAt: number;
  /** When the call is retried, if it failed. */
  readonly retryAt?: number | undefined;
}

/** When a timer is due. */
export interface DueTimer {
  /** When to call it. A time in the past means that it is due now. */
  readonly dueAt: number;
  /** The regular time of the call, without the delay that `idle` or a retry adds. */
  readonly tick: number;
  /**
   * Number of regular times that passed during the last call, at most 1000 for cron. They are
   * skipped.
   */
  readonly missed: number;
}

/** Limits the time that counting takes. */
const MAX_MISSED = 1000;

/**
 * Converts the interval of a timer to milliseconds.
 *
 * @param interval The interval, such as `"1m"`.
 * @throws {SyntaxError} If it is not a duration.
 * @throws {RangeError} If it is zero.
 */
export function timerInterval(interval: Duration): number {
  const length = milliseconds(interval);
  if (length > 0) return length;
  throw new RangeError(
    `on.timer(): the interval must be greater than zero, got "${interval}". Use a duration such as "1m".`,
  );
}

/**
 * Returns when a timer is due for an object. The result depends on the arguments only; calculate it
 * again after each call and each change of the object.
 *
 * - The first call for a new object is due at once, or after the initial delay. With cron, it is
 *   due
 *   at the first regular time after that.
 * - Objects that are found at the start of a process keep their place in the interval, which
 *   depends
 *   on their uid only. So a restart neither delays calls again and again nor makes all of them due.
 * - An interval counts from the end of a call. With `fixedRate` or cron, regular times that pass
 *   during a call are skipped, so that calls for an object never overlap.
 * - A failed call is retried at `retryAt`, unless its next regular time is earlier.
 *
 * @param schedule The schedule of the timer.
 * @param state The state of the timer for the object.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const schedule = { recurrence: { interval: 60_000, fixedRate: false } };
 * const state = { uid: "1", createdAt: 0, startedAt: 0, isFoundAtStart: false, changedAt: 0 };
 * assert.equal(dueTimer(schedule, state).dueAt, 0);
 * assert.equal(dueTimer(schedule, { ...state, last: { tick: 0, endedAt: 5_000 } }).dueAt, 65_000);
 * ```
 */
export function dueTimer({ recurrence, idle = 0, missedRuns }: TimerSchedule, state: TimerState): DueTimer {
  const { last, changedAt } = state;
  const next = last === undefined
    ? { tick: firstTick(recurrence, missedRuns, state), missed: 0 }
    : nextTick(recurrence, last);
  const idleAt = idle > 0 ? changedAt + idle : -Infinity;
  if (last?.retryAt !== undefined && last.retryAt < next.tick) {
    return { dueAt: Math.max(last.retryAt, idleAt), tick: last.tick, missed: 0 };
  }
  return { dueAt: Math.max(next.tick, idleAt), ...next };
}

function firstTick(recurrence: Recurrence, missedRuns: TimerSchedule["missedRuns"], state: TimerState): number {
  const { startedAt, isFoundAtStart, lastRenewedAt } = state;
  const earliest = Math.max(startedAt, (isFoundAtStart ? state.createdAt : startedAt) + (state.initialDelay ?? 0));
  if (!isFoundAtStart) return "cron" in recurrence ? recurrence.cron.next(earliest - 1) : earliest;
  if (missedRuns === "runOnce" && lastRenewedAt !== undefined) {
    if (placeAfter(recurrence, state.uid, lastRenewedAt) <= startedAt) return earliest;
  }
  return placeAfter(recurrence, state.uid, earliest - 1);
}

/** Returns the first regular time of an object after a time, regardless of earlier calls. */
function placeAfter(recurrence: Recurrence, uid: string, after: number): number {
  if ("cron" in recurrence) return recurrence.cron.next(after);
  const { interval } = recurrence;
  const offset = Math.floor(fnv1a(uid) / 2 ** 32 * interval);
  return offset + (Math.floor((after - offset) / interval) + 1) * interval;
}

function nextTick(recurrence: Recurrence, { tick, endedAt }: TimerCall): Pick<DueTimer, "tick" | "missed"> {
  if ("cron" in recurrence) {
    const { cron } = recurrence;
    let missed = 0;
    for (let at = cron.next(tick); at < endedAt && missed < MAX_MISSED; at = cron.next(at)) missed++;
    return { tick: cron.next(Math.max(tick, endedAt - 1)), missed };
  }
  const { interval, fixedRate } = recurrence;
  if (!fixedRate) return { tick: endedAt + interval, missed: 0 };
  const count = Math.max(1, Math.ceil((endedAt - tick) / interval));
  return { tick: tick + count * interval, missed: count - 1 };
}
