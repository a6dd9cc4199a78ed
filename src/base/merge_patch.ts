/** JSON merge patch, RFC 7396. */
import { equal, isObject } from "./json.ts";
import { own } from "./own.ts";

/**
 * Applies a JSON merge patch (RFC 7396). The arguments are not modified.
 *
 * @param target The value to patch.
 * @param patch The patch; null removes a key.
 * @returns The patched value; unchanged parts are shared with `target`.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(applyMergePatch({ a: 1, b: 2 }, { a: null, c: 3 }), { b: 2, c: 3 });
 * ```
 */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else if (value !== undefined) result.set(key, applyMergePatch(result.get(key), value));
  }
  // Object.fromEntries defines own properties, so a key "__proto__" remains a key.
  return Object.fromEntries(result);
}

/**
 * Returns the merge patch that converts `from` into `to`.
 *
 * @param from The current value.
 * @param to The desired value.
 * @returns The patch, or `undefined` if both are equal.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(mergePatch({ a: 1, b: 2 }, { b: 2, c: 3 }), { a: null, c: 3 });
 * ```
 */
export function mergePatch(from: unknown, to: unknown): unknown {
  if (equal(from, to)) return undefined;
  if (!isObject(from) || !isObject(to)) return to;
  const patch: [string, unknown][] = [];
  for (const key of Object.keys(from)) if (own(to, key) === undefined) patch.push([key, null]);
  for (const [key, value] of Object.entries(to)) {
    const difference = value === undefined ? undefined : mergePatch(own(from, key), value);
    if (difference !== undefined) patch.push([key, difference]);
  }
  return Object.fromEntries(patch);
}
