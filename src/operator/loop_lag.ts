/**
 * The delay of the event loop. Code that blocks it delays all objects, Lease renewals and probes.
 */
import type { Clock } from "../base/clock.ts";

// The time between two measurements, in milliseconds.
const INTERVAL = 1000;

/** Measures the delay of the event loop until it is disposed. */
export class LoopLag implements Disposable {
  readonly #clock: Clock;
  #timer: Disposable;
  #due: number;
  #last = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#due = clock.elapsed() + INTERVAL;
    this.#timer = clock.after(INTERVAL, () => this.#measure());
  }

  /**
   * The delay in milliseconds: that of the last second, or of the current turn if that is longer.
   */
  get milliseconds(): number {
    return Math.max(this.#last, this.#clock.elapsed() - this.#due, 0);
  }

  #measure(): void {
    this.#last = Math.max(0, this.#clock.elapsed() - this.#due);
    this.#due = this.#clock.elapsed() + INTERVAL;
    this.#timer = this.#clock.after(INTERVAL, () => this.#measure());
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }
}
