/** Plurals of kinds, as Kubernetes' generators build them (k8s.io/gengo, namer/plural_namer.go). */

/**
 * Returns the plural of a kind's name, in lower case.
 *
 * @param kind The kind, such as `"Policy"`.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(pluralOf("Policy"), "policies");
 * ```
 */
export function pluralOf(kind: string): string {
  const singular = kind.toLowerCase();
  if (singular.endsWith("endpoints")) return singular; // the one word that is its own plural
  if (/(?:[sxz]|[cs]h)$/.test(singular)) return `${singular}es`;
  if (/[^aeiou]y$/.test(singular)) return `${singular.slice(0, -1)}ies`;
  if (/fe?$/.test(singular)) return `${singular.replace(/fe?$/, "")}ves`;
  return `${singular}s`;
}
