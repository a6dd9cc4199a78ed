/** JSON merge patch, RFC 7396. */
import { equal, isObject } from "./json.ts";
import { own } from "./own.ts";

/**
 * Applies a JSON merge patch (RFC 7396). Neither argument is changed.
 *
 * @param target What is patched.
 * @param patch The patch: null removes a key.
 * @returns The patched value; parts the patch does not touch are shared with `target`.
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
  // fromEntries defines own properties, so that a key "__proto__" stays a key.
  return Object.fromEntries(result);
}

/**
 * The merge patch that makes `to` out of `from`.
 *
 * @param from What is there.
 * @param to What is wanted.
 * @returns The patch, or undefined when there is nothing to change.
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
