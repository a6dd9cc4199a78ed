/** Names most like one that was mistyped. */

/**
 * Names in the order of how many letters have to be changed, put in or left out to make another of them; upper and lower case count as one letter.
 *
 * @param name The name as it was typed.
 * @param names Names there are. Of those that are as near, the first comes first.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(nearest("certifcate", ["Issuer", "Certificate"]), ["Certificate", "Issuer"]);
 * ```
 */
export function nearest(name: string, names: readonly string[]): string[] {
  const distances = new Map(names.map((other) => [other, distance(name.toLowerCase(), other.toLowerCase())]));
  return [...names].sort((a, b) => distances.get(a)! - distances.get(b)!);
}

/** Levenshtein's distance, a row at a time. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
