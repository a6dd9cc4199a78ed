/**
 * Deadlines for bytes that clients send. They count ticks of a timer instead of elapsed time,
 * because bytes that arrive while the event loop is blocked (by a large review or a busy machine)
 * are not late. A blocked event loop counts as one tick, however long it was blocked.
 */
import type { Clock } from "../../base/clock.ts";

/** A deadline that has not passed. */
export interface ReceiveDeadline {
  /** Number of the tick at which it passes. */
  readonly due: number;
  readonly late: () => void;
}

/** Options of {@linkcode ReceiveDeadlines}. */
export interface ReceiveDeadlinesOptions {
  readonly clock: Clock;
  /** How long a client has, in milliseconds. The first tick may come up to 100 ms early. */
  readonly time: number;
  /**
   * Whether the timer is kept until its next tick when no deadlines are left. This must be false
   * with a virtual clock, which would advance to the timer. @default {false}
   */
  readonly keepsTimer?: boolean | undefined;
}

// Interval between ticks, in milliseconds.
const TICK = 100;

/** Calls back when clients are late. */
export class ReceiveDeadlines implements Disposable {
  readonly #options: ReceiveDeadlinesOptions;
  /** The earliest first, because all have the same time. */
  readonly #pending = new Set<ReceiveDeadline>();
  #ticks = 0;
  #timer: Disposable | undefined;
  #isOver = false;

  /** @param options The clock, and how long clients have. */
  constructor(options: ReceiveDeadlinesOptions) {
    this.#options = options;
  }

  /**
   * Starts a deadline. {@linkcode forget} cancels it.
   *
   * @param late Called once, when it has passed.
   */
  start(late: () => void): ReceiveDeadline {
    const deadline = { due: this.#ticks + Math.ceil(this.#options.time / TICK), late };
    this.#pending.add(deadline);
    this.#timer ??= this.#nextTick();
    return deadline;
  }

  #nextTick(): Disposable {
    return this.#options.clock.after(TICK, () => {
      this.#timer = undefined;
      this.#ticks++;
      for (const deadline of this.#pending) {
        if (deadline.due > this.#ticks) break;
        this.#pending.delete(deadline);
        deadline.late();
      }
      if (this.#pending.size > 0) this.#timer ??= this.#nextTick();
    });
  }

  /**
   * Cancels a deadline.
   *
   * @param deadline The deadline.
   */
  forget(deadline: ReceiveDeadline): void {
    this.#pending.delete(deadline);
    if (this.#isOver || !this.#options.keepsTimer) this.#clearIfUnused();
  }

  #clearIfUnused(): void {
    if (this.#pending.size > 0) return;
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }

  /** Stops the timer when the last pending deadline is cancelled. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#clearIfUnused();
  }
}
