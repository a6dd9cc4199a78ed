/** Suggestions for misspelled words. */

/**
 * Returns the known word that is most similar to another, if at most a third of its letters differ.
 * The comparison ignores case.
 *
 * @param word The misspelled word.
 * @param known The known words.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(nearest("log_levle", ["log_level", "log_format"]), "log_level");
 * assert.equal(nearest("colour", ["log_level", "log_format"]), undefined);
 * ```
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const [best] = byNearness(word, known);
  if (best === undefined || differences(word, best) > Math.floor(Math.max(word.length, 3) / 3)) return undefined;
  return best;
}

/**
 * Sorts known words by similarity to another word. The order of equally similar words is retained.
 *
 * @param word The misspelled word.
 * @param known The known words.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(byNearness("certifcate", ["Issuer", "Certificate"]), ["Certificate", "Issuer"]);
 * ```
 */
export function byNearness(word: string, known: readonly string[]): string[] {
  const distances = new Map(known.map((one) => [one, differences(word, one)]));
  return [...known].sort((a, b) => distances.get(a)! - distances.get(b)!);
}

/**
 * Returns the number of letters to insert, delete, replace or swap with their neighbor (optimal
 * string alignment).
 */
function differences(word: string, known: string): number {
  const [a, b] = [word.toLowerCase(), known.toLowerCase()];
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, rows[i - 2]![j - 2]! + 1);
      }
      row.push(least);
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}
