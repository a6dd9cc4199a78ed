/** How long the API server waits for the answer of one request. */

/**
 * Ends the work on a request when the API server no longer waits for the answer. There is one per
 * request, so its signal is only created when it is used.
 */
export class Patience {
  readonly #outer: AbortSignal;
  #controller: AbortController | undefined;
  #error: Error | undefined;
  #reject: ((error: Error) => void) | undefined;
  #follow: (() => void) | undefined;

  /** @param outer Aborts the signal too. */
  constructor(outer: AbortSignal) {
    this.#outer = outer;
  }

  /** Aborted when the API server no longer waits. */
  get signal(): AbortSignal {
    return (this.#controller ?? this.#begin()).signal;
  }

  #begin(): AbortController {
    const controller = this.#controller = new AbortController();
    this.#follow = () => controller.abort(this.#outer.reason);
    if (this.#error !== undefined) controller.abort(this.#error);
    else if (this.#outer.aborted) this.#follow();
    else this.#outer.addEventListener("abort", this.#follow, { once: true });
    return controller;
  }

  /**
   * Ends it. Pending work continues, but its result is ignored.
   *
   * @param error The reason.
   */
  end(error: Error): void {
    this.#error = error;
    this.#controller?.abort(error);
    this.#reject?.(error);
  }

  /**
   * Returns a promise for an answer that rejects if this ends first.
   *
   * @param answer The answer. Its result is ignored after that.
   */
  orEnd<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      answer.then(resolve, reject);
    });
  }

  /** Throws the error that ended it, if it has ended. */
  check(): void {
    if (this.#error !== undefined) throw this.#error;
    this.#outer.throwIfAborted();
  }

  /** Removes its listener from the outer signal. */
  release(): void {
    if (this.#follow !== undefined) this.#outer.removeEventListener("abort", this.#follow);
  }
}
