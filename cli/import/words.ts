/** Splits names of properties into words, and joins words into names of constants. */
import type { SchemaPath } from "./schema_index.ts";

/** Returns the last name of a path and the `*` entries after it: `["hosts", "*"]`. */
export function ownName(path: SchemaPath): SchemaPath {
  const last = path.findLastIndex((name) => name !== "*");
  return path.slice(Math.max(last, 0));
}

/**
 * Returns the words of a path. A list or map contributes the singular of its name for its items.
 */
export function words(path: SchemaPath): string[] {
  return path.flatMap((name, i) => {
    if (name === "*") return [];
    const parts = wordsOf(name);
    if (path[i + 1] !== "*" || parts.length === 0) return parts;
    const last = parts.at(-1)!;
    return [...parts.slice(0, -1), ...singular(last)];
  });
}

/**
 * Returns the words of a name: `tlsConfig` is `["tls", "config"]`, `HTTPGet` is `["http", "get"]`.
 */
export function wordsOf(name: string): string[] {
  return name.match(/[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+/g)?.map((word) => word.toLowerCase()) ?? [];
}

/** Returns the singular of a word, or the word and "item" if it is not a plural. */
function singular(word: string): string[] {
  if (!word.endsWith("s") || /(?:ss|us|is|series)$/.test(word)) return [word, "item"];
  if (/..ies$/.test(word)) return [word.replace(/ies$/, "y")];
  if (/(?:ss|x|zz|sh|[^a]ch|alias|status|bus)es$/.test(word)) return [word.slice(0, -2)];
  return [word.slice(0, -1)];
}

/** Joins words: `["tls", "config"]` is `tlsConfig`. */
export function camelCase(parts: readonly string[]): string {
  const joined = parts.map((part, i) => (i === 0 ? part : part[0]!.toUpperCase() + part.slice(1))).join("");
  return joined.replace(/^(?=[0-9])/, "_");
}

/** Returns how often each string occurs. */
export function counted(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}
