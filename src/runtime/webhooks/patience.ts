/** For how long one request is waited for. */

/** How long one request is waited for. Made for each of them, so that what most do not need is made when it is asked for. */
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

  /** Aborted when nobody waits any longer. */
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

  /** Ends it: what goes on is left behind. */
  end(error: Error): void {
    this.#error = error;
    this.#controller?.abort(error);
    this.#reject?.(error);
  }

  /**
   * What an answer comes to, unless the patience ends before.
   *
   * @param answer Whatever becomes of it when it is too late, nobody waits for it.
   */
  orEnd<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      answer.then(resolve, reject);
    });
  }

  /** Throws the error that ended it, if one did. */
  check(): void {
    if (this.#error !== undefined) throw this.#error;
    this.#outer.throwIfAborted();
  }

  /** Lets go of what would end it. */
  release(): void {
    if (this.#follow !== undefined) this.#outer.removeEventListener("abort", this.#follow);
  }
}
