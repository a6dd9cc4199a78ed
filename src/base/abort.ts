/** Signals that follow others. */

/** A controller that others abort too. Disposing of it lets go of them. */
export interface Linked extends Disposable {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
}

/**
 * A controller that is aborted when one of some signals is. In place of `AbortSignal.any`, whose answer Deno 2.4 lets the garbage collector take
 * while listeners wait on it, so that they never hear: an operator did not stop for that.
 *
 * @param signals The signals to follow. One that is aborted already aborts at once.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const outer = new AbortController();
 * using inner = linked([outer.signal]);
 * outer.abort("enough");
 * assert.equal(inner.signal.reason, "enough");
 * ```
 */
export function linked(signals: readonly AbortSignal[]): Linked {
  const controller = new AbortController();
  const undo: (() => void)[] = [];
  for (const signal of signals) {
    if (signal.aborted) controller.abort(signal.reason);
    const abort = (): void => controller.abort(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    undo.push(() => signal.removeEventListener("abort", abort));
  }
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    [Symbol.dispose]: () => undo.forEach((letGo) => letGo()),
  };
}

/**
 * Waits for a signal.
 *
 * @param signal The signal; one that is aborted already counts.
 * @returns A promise that resolves when it is aborted.
 */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
