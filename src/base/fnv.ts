/**
 * Returns the FNV-1a hash of a string, with 32 bits
 * ({@link https://datatracker.ietf.org/doc/html/draft-eastlake-fnv | draft-eastlake-fnv}). It is
 * small, synchronous and evenly distributed, but not secure.
 *
 * @param text The string, hashed as UTF-8.
 * @returns An integer from 0 to 2³² - 1.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(fnv1a("foobar"), 0xbf9cf968);
 * ```
 */
export function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
