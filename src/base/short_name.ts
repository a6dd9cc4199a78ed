import { fnv1a } from "./fnv.ts";

/**
 * Shortens a name to a length. A longer name ends with a hash of the whole name, so that names with
 * a common prefix stay distinct. Clusters store such names, so the hash must never change.
 *
 * @param name The whole name.
 * @param longest The maximum length in characters, from 10.
 * @returns The name, or its prefix, a dash and 8 hexadecimal digits.
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
  // The server rejects ".-" in names, so trailing punctuation is removed.
  return `${name.slice(0, longest - 9).replace(/[-._]+$/, "")}-${fnv1a(name).toString(16).padStart(8, "0")}`;
}
