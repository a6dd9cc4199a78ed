/** What a cluster's controllers do by themselves, one step at a time: in the order in which it was asked for, between requests. */

import { ConversionNeeded } from "../webhooks/conversion.ts";

/** A queue of steps. */
export class Background {
  /** Steps to come, by what they are about: asking again for one that waits changes nothing. */
  #steps = new Map<string, () => void>();
  #isScheduled = false;
  readonly #onStep: () => void;

  /** @param onStep Called after each step. */
  constructor(onStep: () => void) {
    this.#onStep = onStep;
  }

  /** How many steps wait. */
  get size(): number {
    return this.#steps.size;
  }

  /**
   * Asks for a step.
   *
   * @param about What it is about.
   * @param step What to do. It must not throw.
   */
  add(about: string, step: () => void): void {
    if (!this.#steps.has(about)) this.#steps.set(about, step);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => this.#run());
  }

  #run(): void {
    this.#isScheduled = false;
    for (const [about, step] of this.#steps) {
      this.#steps.delete(about);
      try {
        step();
      } catch (error) {
        if (!(error instanceof ConversionNeeded)) throw error;
        // The step begins anew after it: what it did before stays done.
        error.wait().then(() => this.add(about, step));
      }
      this.#onStep();
    }
  }
}
