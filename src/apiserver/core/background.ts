/**
 * Runs the steps of the built-in controllers between requests, in the order in which they were
 * added.
 */
import { ConversionNeeded } from "../webhooks/conversion.ts";

/** A queue of steps. */
export class Background {
  /** Waiting steps by subject. Adding a step whose subject is already waiting has no effect. */
  #steps = new Map<string, () => void>();
  #isScheduled = false;
  readonly #onStep: () => void;

  /** @param onStep Called after each completed step. */
  constructor(onStep: () => void) {
    this.#onStep = onStep;
  }

  /** Number of waiting steps. */
  get size(): number {
    return this.#steps.size;
  }

  /**
   * Adds a step.
   *
   * @param subject Identifies the step.
   * @param step The action. It must not throw.
   */
  add(subject: string, step: () => void): void {
    if (!this.#steps.has(subject)) this.#steps.set(subject, step);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => this.#run());
  }

  #run(): void {
    this.#isScheduled = false;
    for (const [subject, step] of this.#steps) {
      this.#steps.delete(subject);
      try {
        step();
      } catch (error) {
        if (!(error instanceof ConversionNeeded)) throw error;
        // Runs the step again after the conversion. Writes that it already made are not undone.
        error.wait().then(() => this.add(subject, step));
      }
      this.#onStep();
    }
  }
}
