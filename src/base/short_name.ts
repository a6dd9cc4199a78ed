/**
 * A name cut to a length. A longer one ends with a hash of the whole, so that two long names that begin alike stay apart. The hash is
 * part of names that clusters store: it must never change.
 *
 * @param name The whole name.
 * @param longest The most characters it may have, from 10.
 * @returns The name, or its beginning, a dash and 8 hexadecimal digits.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(shortName("website-operator.websites", 63), "website-operator.websites");
 * assert.equal(shortName("x".repeat(70), 63).length, 63);
 * ```
 */
export function shortName(name: string, longest: number): string {
  if (name.length <= longest) return name;
  // A cut may not leave a dot or a dash before the dash: the server takes neither ".-" nor a name that ends so.
  return `${name.slice(0, longest - 9).replace(/[-._]+$/, "")}-${fnv1a(name)}`;
}

/** FNV-1a, 32 bits (draft-eastlake-fnv): small, synchronous, and good enough to tell a handful of names apart. */
function fnv1a(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
