/** Reading JSON objects whose keys come from elsewhere: a key such as "constructor" or "__proto__" is data and nothing else. */

/**
 * A key of a JSON object, never one that it inherits.
 *
 * @param object A JSON object.
 * @param key The key.
 * @returns Its value; undefined when the object itself does not hold it.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(own({}, "constructor"), undefined);
 * ```
 */
export function own<T>(object: { readonly [key: string]: T } | undefined, key: string): T | undefined {
  return object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined;
}

/**
 * A copy of a JSON object with some keys set or, where the new value is undefined, taken away.
 *
 * @param object A JSON object; it is not changed.
 * @param changes What to set, in order.
 * @returns The copy.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(withKeys({ a: 1, b: 2 }, [["a", undefined], ["c", 3]]), { b: 2, c: 3 });
 * ```
 */
export function withKeys<T>(
  object: { readonly [key: string]: T },
  changes: Iterable<readonly [string, T | undefined]>,
): { [key: string]: T } {
  const result = { ...object };
  for (const [key, value] of changes) {
    if (value === undefined) delete result[key];
    else setOwn(result, key, value);
  }
  return result;
}

/**
 * Sets a key of a JSON object that is still being built, also a key that assignment would take for the prototype.
 *
 * @param object The object to change.
 * @param key The key.
 * @param value Its value.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { setOwn } from "@op/sdk/definitions";
 *
 * const object: Record<string, unknown> = {};
 * setOwn(object, "__proto__", 1);
 * assert.deepEqual(Object.keys(object), ["__proto__"]);
 * ```
 */
export function setOwn<T>(object: { [key: string]: T }, key: string, value: T): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else object[key] = value;
}
