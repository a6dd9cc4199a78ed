/**
 * Accesses JSON objects with arbitrary keys: keys such as "constructor" and "__proto__" are treated
 * as data.
 */

/**
 * Returns the value of a key of a JSON object, ignoring inherited properties.
 *
 * @param object A JSON object.
 * @param key The key.
 * @returns Its value, or `undefined` if the object does not have the key.
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
 * Returns a copy of a JSON object with some keys set, or removed if the new value is `undefined`.
 *
 * @param object A JSON object; it is not modified.
 * @param changes The changes, in order.
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
 * Sets a key of a JSON object under construction. An assignment would set the prototype for the key
 * "__proto__".
 *
 * @param object The object to modify.
 * @param key The key.
 * @param value Its value.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
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
