/**
 * Whether one resourceVersion is newer than another. Since Kubernetes 1.35 they compare as integers of any length (KEP-5504); what is no integer
 * compares with nothing.
 *
 * @param a One version.
 * @param b The other.
 * @returns True only if both are integers and `a` is the larger.
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
  if (!compares(a) || !compares(b)) return false;
  return a.length === b.length ? a > b : a.length > b.length;
}

/**
 * Whether a resourceVersion compares with others.
 *
 * @param version The version.
 */
export function compares(version: string): boolean {
  return INTEGER.test(version);
}

const INTEGER = /^(0|[1-9]\d*)$/;
