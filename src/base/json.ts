/** Comparison and classification of JSON values. */
import { own } from "./own.ts";

/**
 * Returns whether a value is a JSON object: neither null, nor a list, nor a scalar.
 *
 * @param value Any value.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert(isObject({}) && !isObject([]) && !isObject(null));
 * ```
 */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Returns whether two JSON values are equal. The order of keys does not matter; a key with the
 * value `undefined` counts as absent.
 *
 * @param a One value.
 * @param b The other value.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert(equal({ a: 1, b: [2] }, { b: [2], a: 1 }));
 * ```
 */
export function equal(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => equal(item, b[i]));
  }
  if (!isObject(a) || !isObject(b)) return a === 0 && b === 0;
  for (const key of Object.keys(b)) if (b[key] !== undefined && own(a, key) === undefined) return false;
  for (const key of Object.keys(a)) if (!equal(a[key], own(b, key))) return false;
  return true;
}
