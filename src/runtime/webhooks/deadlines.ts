/** Deadlines of requests. Many deadlines share one timer, because a timer takes CPU time. */
import type { Clock } from "../../base/clock.ts";

/** A deadline that has not passed. */
export interface Deadline {
  /** When it passes: a time, or the number of a tick. */
  readonly due: number;
  /** Called when it has passed. */
  readonly onLate: () => void;
}

/** Options of {@linkcode Deadlines} and {@linkcode ReceiveDeadlines}. */
export interface DeadlineOptions {
  readonly clock: Clock;
  /**
   * Whether the timer continues when no deadlines are left, so that the next deadline can use it.
   * This must be false with a virtual clock, which would advance to the timer. @default {false}
   */
  readonly keepsTimer?: boolean | undefined;
}

/** Pending deadlines with one timer, which a subclass sets. */
abstract class SharedTimer implements Disposable {
  protected readonly clock: Clock;
  protected readonly pending = new Set<Deadline>();
  protected timer: Disposable | undefined;
  readonly #keepsTimer: boolean;
  #isDisposed = false;

  constructor({ clock, keepsTimer = false }: DeadlineOptions) {
    this.clock = clock;
    this.#keepsTimer = keepsTimer;
  }

  /** Cancels a deadline. */
  cancel(deadline: Deadline): void {
    this.pending.delete(deadline);
    if (this.#isDisposed || !this.#keepsTimer) this.#clearIfUnused();
  }

  /** Stops the timer when the last pending deadline has passed or is cancelled. */
  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#clearIfUnused();
  }

  protected clearTimer(): void {
    this.timer?.[Symbol.dispose]();
    this.timer = undefined;
  }

  #clearIfUnused(): void {
    if (this.pending.size === 0) this.clearTimer();
  }
}

/** Deadlines in elapsed time. The timer is set for the earliest one. */
export class Deadlines extends SharedTimer {
  /** When the timer is due. */
  #timerDue = Infinity;

  /**
   * Starts a deadline. {@linkcode Deadlines.cancel} cancels it.
   *
   * @param delay The delay in milliseconds.
   * @param onLate Called once, when the deadline has passed.
   */
  after(delay: number, onLate: () => void): Deadline {
    const due = this.clock.elapsed() + delay;
    const deadline = { due, onLate };
    this.pending.add(deadline);
    if (due < this.#timerDue) this.#setTimer(due);
    return deadline;
  }

  #setTimer(due: number): void {
    this.clearTimer();
    this.#timerDue = due;
    this.timer = this.clock.after(Math.max(0, due - this.clock.elapsed()), () => this.#onTimer());
  }

  #onTimer(): void {
    this.#timerDue = Infinity;
    const now = this.clock.elapsed();
    let next = Infinity;
    for (const deadline of this.pending) {
      // Timers may fire a fraction of a millisecond early.
      if (deadline.due <= now + 1) {
        this.pending.delete(deadline);
        deadline.onLate();
      } else next = Math.min(next, deadline.due);
    }
    if (next < this.#timerDue) this.#setTimer(next);
  }

  protected override clearTimer(): void {
    super.clearTimer();
    this.#timerDue = Infinity;
  }
}

/** Options of {@linkcode ReceiveDeadlines}. */
export interface ReceiveDeadlinesOptions extends DeadlineOptions {
  /** Time of each deadline, in milliseconds. The first tick may come up to 100 ms early. */
  readonly time: number;
}

// Interval between ticks, in milliseconds.
const TICK = 100;

/**
 * Deadlines for bytes that clients send. They count ticks of a timer instead of elapsed time,
 * because bytes that arrive while the event loop is blocked (by a large review or a busy machine)
 * are not late. A blocked event loop counts as one tick, however long it was blocked.
 */
export class ReceiveDeadlines extends SharedTimer {
  readonly #time: number;
  #ticks = 0;

  /** @param options The clock, and the time of each deadline. */
  constructor(options: ReceiveDeadlinesOptions) {
    super(options);
    this.#time = options.time;
  }

  /**
   * Starts a deadline. {@linkcode ReceiveDeadlines.cancel} cancels it.
   *
   * @param onLate Called once, when the deadline has passed.
   */
  start(onLate: () => void): Deadline {
    const deadline = { due: this.#ticks + Math.ceil(this.#time / TICK), onLate };
    this.pending.add(deadline);
    this.timer ??= this.#nextTick();
    return deadline;
  }

  #nextTick(): Disposable {
    return this.clock.after(TICK, () => {
      this.timer = undefined;
      this.#ticks++;
      // All deadlines have the same time, so the earliest is the first.
      for (const deadline of this.pending) {
        if (deadline.due > this.#ticks) break;
        this.pending.delete(deadline);
        deadline.onLate();
      }
      if (this.pending.size > 0) this.timer ??= this.#nextTick();
    });
  }
}
