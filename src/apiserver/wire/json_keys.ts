/**
 * Finds problems that JSON.parse hides: duplicate keys, and numbers that exceed the range of
 * doubles.
 */

/** Returns the paths of duplicate keys. The text must be valid JSON. */
export function duplicateKeys(text: string): string[] {
  const found: string[] = [];
  const levels: { seen: Set<string> | undefined; path: string; key: string; index: number }[] = [];
  const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;
  let expectsKey = false;
  for (const [part] of text.matchAll(token)) {
    const level = levels.at(-1);
    if (part === "{" || part === "[") {
      const path = level === undefined ? "" : pathOf(level);
      levels.push({ seen: part === "{" ? new Set() : undefined, path, key: "", index: 0 });
      expectsKey = part === "{";
    } else if (part === "}" || part === "]") {
      levels.pop();
      expectsKey = false;
    } else if (part === ",") {
      if (level !== undefined) level.index++;
      expectsKey = level?.seen !== undefined;
    } else if (expectsKey && part.startsWith('"') && level?.seen !== undefined) {
      const key = JSON.parse(part) as string;
      level.key = key;
      if (level.seen.has(key)) found.push(pathOf(level));
      level.seen.add(key);
      expectsKey = false;
    }
  }
  return [...new Set(found)];
}

function pathOf(
  { seen, path, key, index }: { seen: Set<string> | undefined; path: string; key: string; index: number },
): string {
  if (seen === undefined) return `${path}[${index}]`;
  return path === "" ? key : `${path}.${key}`;
}

/** Returns the first number that exceeds the range of doubles. */
export function infiniteNumber(text: string): string | undefined {
  if (!/[eE]\+?\d{3}|\d{309}/.test(text)) return undefined;
  for (const [part] of text.matchAll(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g)) {
    if (!part.startsWith('"') && !Number.isFinite(Number(part))) return part;
  }
  return undefined;
}
