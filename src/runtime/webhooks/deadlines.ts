/**
 * Tells requests that are late. All of them share one timer, which is set for the first that falls due and stays when that one is answered in time: to set
 * and clear one for each request costs as much as to answer it.
 */
import type { Clock } from "../../base/clock.ts";

/** A moment, and who is told when it is over. */
export interface Deadline {
  readonly due: number;
  readonly late: () => void;
}

/** Options of {@linkcode Deadlines}. */
export interface DeadlinesOptions {
  readonly clock: Clock;
  /** Whether the timer stays while there is nothing to wait for. A clock that others move must not find one then. @default {false} */
  readonly lingers?: boolean | undefined;
}

/** Tells requests that are late. */
export class Deadlines implements Disposable {
  readonly #options: DeadlinesOptions;
  readonly #pending = new Set<Deadline>();
  #timer: Disposable | undefined;
  /** When the timer rings. */
  #rings = Infinity;
  #isOver = false;

  constructor(options: DeadlinesOptions) {
    this.#options = options;
  }

  /**
   * Calls `late` once, after at least so many milliseconds, unless {@linkcode forget} takes that back.
   *
   * @param delay Milliseconds.
   * @param late Called when it is late.
   */
  after(delay: number, late: () => void): Deadline {
    const due = this.#options.clock.elapsed() + delay;
    const deadline = { due, late };
    this.#pending.add(deadline);
    if (due < this.#rings) this.#set(due);
    return deadline;
  }

  #set(due: number): void {
    this.#clear();
    const { clock } = this.#options;
    this.#rings = due;
    this.#timer = clock.after(Math.max(0, due - clock.elapsed()), () => this.#ring());
  }

  #ring(): void {
    this.#rings = Infinity;
    const now = this.#options.clock.elapsed();
    let next = Infinity;
    for (const deadline of this.#pending) {
      // What the clock counts and what it waits for may differ by the fraction of a millisecond.
      if (deadline.due <= now + 1) {
        this.#pending.delete(deadline);
        deadline.late();
      } else next = Math.min(next, deadline.due);
    }
    if (next < this.#rings) this.#set(next);
  }

  /** Nobody waits for it any longer. */
  forget(deadline: Deadline): void {
    this.#pending.delete(deadline);
    if (this.#pending.size === 0 && (this.#isOver || !this.#options.lingers)) this.#clear();
  }

  #clear(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#rings = Infinity;
  }

  /** The timer goes with the last request that goes on. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    if (this.#pending.size === 0) this.#clear();
  }
}
