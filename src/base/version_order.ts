/** The order of API versions. */

const VERSION = /^v(\d+)(?:(alpha|beta)(\d+))?$/;

/**
 * Compares two versions in Kubernetes' order: stable versions precede beta and alpha, higher
 * versions precede lower ones, and other names come last in alphabetical order. kubectl uses the
 * first served version.
 *
 * @param a One version.
 * @param b The other version.
 * @returns A negative number if `a` comes first, a positive one if `b` does.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(["v1beta1", "v1", "foo", "v10"].sort(compareVersions), [
 *   "v10",
 *   "v1",
 *   "v1beta1",
 *   "foo",
 * ]);
 * ```
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [VERSION.exec(a), VERSION.exec(b)];
  if (!left || !right) return left ? -1 : right ? 1 : a < b ? -1 : a > b ? 1 : 0;
  const stage = (match: RegExpExecArray) => match[2] === undefined ? 0 : match[2] === "beta" ? 1 : 2;
  return stage(left) - stage(right) || Number(right[1]) - Number(left[1]) ||
    Number(right[3] ?? 0) - Number(left[3] ?? 0);
}
