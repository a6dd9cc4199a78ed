/** Abort signals that follow others. */

/** An abort controller that follows other signals. Disposing of it removes its listeners. */
export interface Linked extends Disposable {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
}

/**
 * Returns a controller that is aborted when one of several signals is aborted. It replaces
 * `AbortSignal.any`: Deno 2.4 may garbage-collect that signal while it has listeners. Its listeners
 * are then never called, and an operator would not stop.
 *
 * @param signals The signals to follow. If one is already aborted, the controller is aborted at
 * once.
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
  const removals: (() => void)[] = [];
  for (const signal of signals) {
    if (signal.aborted) controller.abort(signal.reason);
    const abort = (): void => controller.abort(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    removals.push(() => signal.removeEventListener("abort", abort));
  }
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    [Symbol.dispose]: () => removals.forEach((remove) => remove()),
  };
}

/**
 * Waits until a signal is aborted.
 *
 * @param signal The signal; it may already be aborted.
 * @returns A promise that resolves when it is aborted.
 */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
