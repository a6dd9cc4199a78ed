/** What wakes objects beside changes in the cluster. */
import { type Duration, milliseconds } from "../base/duration.ts";
import type { Wake } from "./watch.ts";

/** What {@linkcode every} and {@linkcode source} answer. */
export type Trigger =
  | { readonly every: number }
  | { readonly source: (signal: AbortSignal) => AsyncIterable<Wake | readonly Wake[]> };

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
 * @param open Opens it. The signal is aborted when the operator stops, or leads no more.
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
export function source(open: (signal: AbortSignal) => AsyncIterable<Wake | readonly Wake[]>): Trigger {
  return { source: open };
}
