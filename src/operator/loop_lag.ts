/** By how much the event loop is late: work that holds it up holds up all objects, renewals of the lease and probes. */
import type { Clock } from "../base/clock.ts";

const INTERVAL = 1000;

/** Measures the event loop. Disposing of it ends that. */
export class LoopLag implements Disposable {
  readonly #clock: Clock;
  #timer: Disposable;
  #due: number;
  #last = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#due = clock.elapsed() + INTERVAL;
    this.#timer = clock.after(INTERVAL, () => this.#ring());
  }

  /** Milliseconds: of the last second, or of the turn that goes on, whichever is more. */
  get milliseconds(): number {
    return Math.max(this.#last, this.#clock.elapsed() - this.#due, 0);
  }

  #ring(): void {
    this.#last = Math.max(0, this.#clock.elapsed() - this.#due);
    this.#due = this.#clock.elapsed() + INTERVAL;
    this.#timer = this.#clock.after(INTERVAL, () => this.#ring());
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }
}
