/** What wakes objects beside changes in the cluster. */
import type { Clock } from "../base/clock.ts";
import { type Duration, milliseconds } from "../base/duration.ts";
import type { ReconcileRequest } from "./watch.ts";

/** What {@linkcode every} and {@linkcode source} return. */
export type Trigger =
  | { readonly every: number }
  | {
    readonly source: (
      signal: AbortSignal,
      context: SourceContext,
    ) => AsyncIterable<ReconcileRequest | readonly ReconcileRequest[]>;
  };

/** What a {@linkcode source} receives besides its signal. */
export interface SourceContext {
  /** Returns the current time, by the operator's clock. In a memory cluster it is the cluster's time, which the test moves; `Date` is not. */
  now(): Date;
  /** The operator's clock: system time, or in a memory cluster the cluster's. */
  readonly clock: Clock;
}

/**
 * Wakes all objects of a controller again and again, after what is new.
 *
 * @param interval How often.
 * @returns What `triggers` of a controller takes.
 * @throws {SyntaxError} If it is not a duration.
 * @throws {RangeError} If it is no time at all.
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
  if (length === 0) throw new RangeError(`Cannot wake objects every "${interval}": that is no time at all`);
  return { every: length };
}

/**
 * Wakes the objects that a source outside the cluster names: a queue, a webhook, a file. A source that ends or throws is begun again, after a pause that
 * grows.
 *
 * @param open Opens it. The signal is aborted when the operator stops, or leads no more. The context has the operator's clock.
 * @returns What `triggers` of a controller takes.
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
