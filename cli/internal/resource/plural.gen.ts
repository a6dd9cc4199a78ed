// Made by tools/cli_internal.ts from src/resource/plural.ts: do not edit.
export function pluralOf(kind: string): string {
  const singular = kind.toLowerCase();
  if (singular.endsWith("endpoints")) return singular; // the one word that is its own plural
  if (/(?:[sxz]|[cs]h)$/.test(singular)) return `${singular}es`;
  if (/[^aeiou]y$/.test(singular)) return `${singular.slice(0, -1)}ies`;
  if (/fe?$/.test(singular)) return `${singular.replace(/fe?$/, "")}ves`;
  return `${singular}s`;
}
