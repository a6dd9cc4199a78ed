/**
 * Returns whether one resourceVersion is newer than another. Since Kubernetes 1.35 they are
 * integers of any length (KEP-5504). Other versions cannot be compared.
 *
 * @param a The first version.
 * @param b The second version.
 * @returns True only if both are integers and `a` is larger.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert(isNewer("100", "99"));
 * assert(!isNewer("99", "99"));
 * ```
 */
export function isNewer(a: string, b: string): boolean {
  if (!isComparable(a) || !isComparable(b)) return false;
  return a.length === b.length ? a > b : a.length > b.length;
}

/**
 * Returns whether a resourceVersion can be compared.
 *
 * @param version The version.
 */
export function isComparable(version: string): boolean {
  return INTEGER.test(version);
}

const INTEGER = /^(0|[1-9]\d*)$/;
