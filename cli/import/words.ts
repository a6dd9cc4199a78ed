/** The words that names of properties are made of, to make names of constants of them. */
import type { SchemaPath } from "./schema_index.ts";

/** The last name of a path with the marks behind it: `["hosts", "*"]`. */
export function ownName(path: SchemaPath): SchemaPath {
  const last = path.findLastIndex((name) => name !== "*");
  return path.slice(Math.max(last, 0));
}

/** Returns the words of a path, with the singular for items. */
export function words(path: SchemaPath): string[] {
  return path.flatMap((name, i) => {
    if (name === "*") return [];
    const parts = wordsOf(name);
    if (path[i + 1] !== "*" || parts.length === 0) return parts;
    const last = parts.at(-1)!;
    return [...parts.slice(0, -1), ...singular(last)];
  });
}

/** `["tls", "config"]` of `tlsConfig`, `["http", "get"]` of `HTTPGet`. */
export function wordsOf(name: string): string[] {
  return name.match(/[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+/g)?.map((word) => word.toLowerCase()) ?? [];
}

/** The word, and "item" behind it where it is no plural. */
function singular(word: string): string[] {
  if (!word.endsWith("s") || /(?:ss|us|is|series)$/.test(word)) return [word, "item"];
  if (/..ies$/.test(word)) return [word.replace(/ies$/, "y")];
  if (/(?:ss|x|zz|sh|[^a]ch|alias|status|bus)es$/.test(word)) return [word.slice(0, -2)];
  return [word.slice(0, -1)];
}

/** `tlsConfig` of `["tls", "config"]`. */
export function camelCase(parts: readonly string[]): string {
  const joined = parts.map((part, i) => (i === 0 ? part : part[0]!.toUpperCase() + part.slice(1))).join("");
  return joined.replace(/^(?=[0-9])/, "_");
}

/** How often each text is there. */
export function counted(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}
