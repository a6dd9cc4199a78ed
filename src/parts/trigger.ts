/** Triggers of reconciles other than changes in the cluster. */
import type { Clock } from "../base/clock.ts";
import { type Duration, milliseconds } from "../base/duration.ts";
import type { ReconcileRequest } from "./watch.ts";

/** The value that {@linkcode every} and {@linkcode source} return. */
export type Trigger =
  | { readonly every: number }
  | {
    readonly source: (
      signal: AbortSignal,
      context: SourceContext,
    ) => AsyncIterable<ReconcileRequest | readonly ReconcileRequest[]>;
  };

/** The context of a {@linkcode source}. */
export interface SourceContext {
  /**
   * Returns the current time of the operator's clock. In a memory cluster the test moves this
   * clock; `Date` does not follow it.
   */
  now(): Date;
  /** The operator's clock: system time, or the clock of the memory cluster. */
  readonly clock: Clock;
}

/**
 * Reconciles all objects of a controller at an interval, with lower priority than changed objects.
 *
 * @param interval The interval.
 * @returns The value for the option `triggers` of a controller.
 * @throws {SyntaxError} If it is not a duration.
 * @throws {RangeError} If it is zero.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { every } from "@op/sdk";
 *
 * assert.deepEqual(every("1h"), { every: 3_600_000 });
 * ```
 */
export function every(interval: Duration): Trigger {
  const length = milliseconds(interval);
  if (length === 0) throw new RangeError(`every(): the interval must be greater than zero, got "${interval}".`);
  return { every: length };
}

/**
 * Reconciles the objects that a source outside the cluster names: a queue, a webhook, a file. A
 * source that ends or throws is opened again, with increasing pauses.
 *
 * @param open Opens the source. Its signal is aborted when the operator stops or is no longer the
 *   leader.
 * @returns The value for the option `triggers` of a controller.
 *
 * @example Usage
 * ```ts
 * import { source } from "@op/sdk";
 *
 * const orders = source(async function* (signal) {
 *   while (!signal.aborted) {
 *     const order = await nextOrder(signal);
 *     yield { namespace: "shop", name: order };
 *   }
 * });
 *
 * function nextOrder(_signal: AbortSignal): Promise<string> {
 *   return Promise.resolve("order-1");
 * }
 * ```
 */
export function source(
  open: (signal: AbortSignal, context: SourceContext) => AsyncIterable<ReconcileRequest | readonly ReconcileRequest[]>,
): Trigger {
  return { source: open };
}
