/**
 * Returns a count with its noun: `1 object`, `2 objects`.
 *
 * @param count The number.
 * @param one The noun for one.
 * @param many The noun for any other number. @default {the noun for one, and "s"}
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(counted(1, "object"), "1 object");
 * assert.equal(counted(0, "object"), "0 objects");
 * assert.equal(counted(2, "replica is", "replicas are"), "2 replicas are");
 * ```
 */
export function counted(count: number, one: string, many: string = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
