/** When the timers of objects are due, and how their calls ended. */
import { milliseconds } from "../../base/duration.ts";
import { equal } from "../../base/json.ts";
import type { cronSchedule } from "../../handlers/cron.ts";
import { parsePath, type Path } from "../../handlers/path.ts";
import type { Call } from "../../handlers/plan.ts";
import {
  type DueTimer,
  dueTimer,
  type Recurrence,
  timerInterval,
  type TimerSchedule,
  type TimerState,
} from "../../handlers/timer_schedule.ts";
import type { Handler } from "../../parts/handlers/handler.ts";
import type { KubeObject } from "../../resource/kind.ts";
import { followedPart } from "./followed.ts";
import type { CallFailure, CallResult } from "./handler_call.ts";
import type { LastFailure } from "./handler_failures.ts";

/** Creates cron schedules. It is loaded only if a timer has one. */
export type CronParser = typeof cronSchedule;

/** The timers of a kind. */
export class Timers {
  readonly compiled: readonly Timer[];
  readonly #lastRenewedAt: () => number | undefined;

  /**
   * @param handlers The handlers of the kind, by key.
   * @param cron Creates cron schedules; `undefined` if no timer has one.
   * @param lastRenewedAt Returns when the Lease was renewed last before this term.
   */
  constructor(
    handlers: ReadonlyMap<string, Handler>,
    cron: CronParser | undefined,
    lastRenewedAt: () => number | undefined,
  ) {
    this.#lastRenewedAt = lastRenewedAt;
    this.compiled = [...handlers].flatMap(([key, handler]) => {
      if (handler.type !== "timer") return [];
      const { options: { idle, missedRuns, ignoredFields = [] } } = handler;
      const schedule = {
        recurrence: recurrenceOf(handler, cron),
        idle: idle === undefined ? undefined : milliseconds(idle),
        missedRuns,
      };
      return [{ key, handler, schedule, ignored: ignoredFields.map(parsePath) }];
    });
  }

  /** When the Lease was renewed last before this term, if that is known. */
  get lastRenewedAt(): number | undefined {
    return this.#lastRenewedAt();
  }
}

/** A timer of a kind. */
interface Timer {
  readonly key: string;
  readonly handler: Handler;
  readonly schedule: TimerSchedule;
  readonly ignored: readonly Path[];
}

function recurrenceOf({ schedule, options }: Handler, cron: CronParser | undefined): Recurrence {
  if (typeof schedule === "object") return { cron: cron!(schedule.cron, schedule.timeZone) };
  return { interval: timerInterval(schedule!), fixedRate: options.fixedRate === true };
}

/** A timer that is due. */
export interface DueCall {
  readonly call: Call;
  readonly due: DueTimer;
  /** When the first attempt of the call began, in milliseconds since the epoch. */
  readonly since: number;
}

/** A timer that runs for an object. */
interface RunningTimer {
  readonly state: TimerState;
  /** The attempts of a call that failed; `undefined` after a call that ended. */
  readonly attempts?: { readonly count: number; readonly since: number } | undefined;
}

/** The timers of one object while this process leads. */
export class ObjectTimers {
  readonly #timers: Timers;
  readonly #running = new Map<string, RunningTimer>();
  readonly #failures = new Map<string, LastFailure>();
  /** What diffs consider of the object, by the timer with `idle`. */
  readonly #followed = new Map<string, unknown>();
  #isFoundAtStart: boolean;

  /**
   * @param timers The timers of the object's kind.
   * @param isFoundAtStart Whether the object existed when the term began.
   */
  constructor(timers: Timers, isFoundAtStart: boolean) {
    this.#timers = timers;
    this.#isFoundAtStart = isFoundAtStart;
  }

  /** The last failures of timers whose last call failed. */
  get failures(): readonly LastFailure[] {
    return [...this.#failures.values()];
  }

  /** Ends all timers, at the end of a term or when the object is paused. */
  stop(): void {
    this.#isFoundAtStart = true;
    this.#running.clear();
    this.#failures.clear();
  }

  /**
   * Starts and ends timers by their filters.
   *
   * @param object The object.
   * @param matches Returns whether the filters of a handler match; `undefined` if that is unknown.
   * @param now The time in milliseconds since the epoch.
   */
  update(object: KubeObject, matches: (key: string) => boolean | undefined, now: number): void {
    for (const timer of this.#timers.compiled) {
      const isMatching = matches(timer.key) ?? this.#running.has(timer.key);
      if (!isMatching) {
        this.#running.delete(timer.key);
        this.#failures.delete(timer.key);
      } else this.#observe(timer, object, now);
    }
    // A timer that starts later starts because the object changed.
    this.#isFoundAtStart = false;
  }

  #observe({ key, handler, schedule, ignored }: Timer, object: KubeObject, now: number): void {
    const running = this.#running.get(key);
    const hasChanged = (schedule.idle ?? 0) > 0 && this.#hasChanged(key, followedPart(object, [], ignored));
    if (running !== undefined) {
      if (hasChanged) this.#running.set(key, { ...running, state: { ...running.state, changedAt: now } });
      return;
    }
    const { initialDelay } = handler.options;
    const delay = typeof initialDelay === "function" ? initialDelay(object) : initialDelay;
    this.#running.set(key, {
      state: {
        uid: object.metadata.uid,
        createdAt: Date.parse(object.metadata.creationTimestamp),
        startedAt: now,
        isFoundAtStart: this.#isFoundAtStart,
        initialDelay: delay === undefined ? undefined : milliseconds(delay),
        changedAt: now,
        lastRenewedAt: this.#timers.lastRenewedAt,
      },
    });
  }

  #hasChanged(key: string, followed: unknown): boolean {
    const before = this.#followed.get(key);
    this.#followed.set(key, followed);
    return !equal(before, followed);
  }

  /** Returns the calls that are due, in the order of their times. */
  due(now: number): readonly DueCall[] {
    const due = this.#all().filter(({ due }) => due.dueAt <= now);
    due.sort((one, other) => one.due.dueAt - other.due.dueAt);
    return due.map(({ key, due, attempts }) => ({
      call: { id: key, key, cause: "timer", old: undefined, current: undefined, attempt: (attempts?.count ?? 0) + 1 },
      due,
      since: attempts?.since ?? now,
    }));
  }

  /** When the next call is due, in milliseconds since the epoch; `Infinity` if there is none. */
  get nextDueAt(): number {
    return Math.min(Infinity, ...this.#all().map(({ due }) => due.dueAt));
  }

  #all(): { readonly key: string; readonly due: DueTimer; readonly attempts: RunningTimer["attempts"] }[] {
    return this.#timers.compiled.flatMap(({ key, schedule }) => {
      const running = this.#running.get(key);
      return running === undefined ? [] : [{ key, due: dueTimer(schedule, running.state), attempts: running.attempts }];
    });
  }

  /**
   * Records how a call ended.
   *
   * @param dueCall The call.
   * @param result How it ended.
   * @param now The time in milliseconds since the epoch.
   * @returns Why the call is not retried before its next regular time, if it failed.
   */
  ended({ call, due, since }: DueCall, { outcome, failure }: CallResult, now: number): GaveUpReason | undefined {
    const running = this.#running.get(call.key);
    if (running === undefined) return undefined;
    const { handler } = this.#timers.compiled.find(({ key }) => key === call.key)!;
    const gaveUp = failure && reasonToGiveUp(handler, call.attempt, { since, retryAt: outcome.dueAt });
    const retryAt = gaveUp === undefined ? outcome.dueAt : undefined;
    const last = { tick: due.tick, endedAt: now, retryAt };
    const state = { ...running.state, last };
    // If the next regular time comes before the retry, it is a call of its own.
    const isRetried = failure !== undefined && retryAt !== undefined && this.#nextTick(call.key, state) === due.tick;
    this.#running.set(call.key, { state, attempts: isRetried ? { count: call.attempt, since } : undefined });
    if (failure === undefined) this.#failures.delete(call.key);
    else this.#failures.set(call.key, { key: call.key, reason: reasonOf(gaveUp, failure), message: failure.message });
    return gaveUp;
  }

  #nextTick(key: string, state: TimerState): number {
    return dueTimer(this.#timers.compiled.find((timer) => timer.key === key)!.schedule, state).tick;
  }
}

/** Why a failed call is not retried. */
export type GaveUpReason = "PermanentError" | "RetriesExhausted" | "TimedOut";

function reasonOf(gaveUp: GaveUpReason | undefined, failure: CallFailure): string {
  return gaveUp === undefined || gaveUp === "PermanentError" ? failure.reason : gaveUp;
}

function reasonToGiveUp(
  { options: { retries, totalTimeout } }: Handler,
  attempt: number,
  { since, retryAt }: { readonly since: number; readonly retryAt: number | undefined },
): GaveUpReason | undefined {
  if (retryAt === undefined) return "PermanentError";
  if (retries !== undefined && attempt >= retries) return "RetriesExhausted";
  return totalTimeout !== undefined && retryAt > since + milliseconds(totalTimeout) ? "TimedOut" : undefined;
}
