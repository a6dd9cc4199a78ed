/** The timeout of one webhook request. */

/**
 * Ends the work on a request when the API server no longer waits for the response. Its signal is
 * created on first use, because there is a timeout for each request.
 */
export class ReviewTimeout {
  readonly #outer: AbortSignal;
  #controller: AbortController | undefined;
  #error: Error | undefined;
  #reject: ((error: Error) => void) | undefined;
  #onOuterAbort: (() => void) | undefined;

  /** @param outer A signal that also aborts this timeout's signal. */
  constructor(outer: AbortSignal) {
    this.#outer = outer;
  }

  /** Aborted when the API server no longer waits. */
  get signal(): AbortSignal {
    return (this.#controller ?? this.#createController()).signal;
  }

  #createController(): AbortController {
    const controller = this.#controller = new AbortController();
    this.#onOuterAbort = () => controller.abort(this.#outer.reason);
    if (this.#error !== undefined) controller.abort(this.#error);
    else if (this.#outer.aborted) this.#onOuterAbort();
    else this.#outer.addEventListener("abort", this.#onOuterAbort, { once: true });
    return controller;
  }

  /**
   * Ends the wait. Pending work continues, but its result is ignored.
   *
   * @param error The reason.
   */
  end(error: Error): void {
    this.#error = error;
    this.#controller?.abort(error);
    this.#reject?.(error);
  }

  /**
   * Returns a promise for a response that rejects if {@linkcode ReviewTimeout.end} is called first.
   *
   * @param response The response.
   */
  race<T>(response: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      response.then(resolve, reject);
    });
  }

  /** Throws the error of {@linkcode ReviewTimeout.end}, if it was called. */
  check(): void {
    if (this.#error !== undefined) throw this.#error;
    this.#outer.throwIfAborted();
  }

  /** Removes its listener from the outer signal. */
  release(): void {
    if (this.#onOuterAbort !== undefined) this.#outer.removeEventListener("abort", this.#onOuterAbort);
  }
}
