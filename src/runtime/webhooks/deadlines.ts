/**
 * Deadlines of requests. All share one timer, which is set for the earliest deadline. The timer is
 * not cleared when that request is answered in time, because a timer per request would take as much
 * CPU time as answering it.
 */
import type { Clock } from "../../base/clock.ts";

/** A time, and a callback for when it has passed. */
export interface Deadline {
  readonly due: number;
  readonly late: () => void;
}

/** Options of {@linkcode Deadlines}. */
export interface DeadlinesOptions {
  readonly clock: Clock;
  /**
   * Whether the timer is kept when no deadlines are left. This must be false with a virtual clock,
   * which would advance to the timer. @default {false}
   */
  readonly keepsTimer?: boolean | undefined;
}

/** Calls back when requests are late. */
export class Deadlines implements Disposable {
  readonly #options: DeadlinesOptions;
  readonly #pending = new Set<Deadline>();
  #timer: Disposable | undefined;
  /** When the timer is due. */
  #timerDue = Infinity;
  #isOver = false;

  /** @param options The clock, and whether the timer is kept. */
  constructor(options: DeadlinesOptions) {
    this.#options = options;
  }

  /**
   * Calls `late` once after a delay, unless {@linkcode forget} is called first.
   *
   * @param delay The delay in milliseconds.
   * @param late Called when the deadline has passed.
   */
  after(delay: number, late: () => void): Deadline {
    const due = this.#options.clock.elapsed() + delay;
    const deadline = { due, late };
    this.#pending.add(deadline);
    if (due < this.#timerDue) this.#set(due);
    return deadline;
  }

  #set(due: number): void {
    this.#clear();
    const { clock } = this.#options;
    this.#timerDue = due;
    this.#timer = clock.after(Math.max(0, due - clock.elapsed()), () => this.#onTimer());
  }

  #onTimer(): void {
    this.#timerDue = Infinity;
    const now = this.#options.clock.elapsed();
    let next = Infinity;
    for (const deadline of this.#pending) {
      // Timers may fire a fraction of a millisecond early.
      if (deadline.due <= now + 1) {
        this.#pending.delete(deadline);
        deadline.late();
      } else next = Math.min(next, deadline.due);
    }
    if (next < this.#timerDue) this.#set(next);
  }

  /**
   * Cancels a deadline.
   *
   * @param deadline The deadline.
   */
  forget(deadline: Deadline): void {
    this.#pending.delete(deadline);
    if (this.#pending.size === 0 && (this.#isOver || !this.#options.keepsTimer)) this.#clear();
  }

  #clear(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#timerDue = Infinity;
  }

  /** Stops the timer when the last pending deadline is cancelled. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    if (this.#pending.size === 0) this.#clear();
  }
}
