/** The known word that somebody most likely meant. */

/**
 * The known word that is nearest to another, if one is near: at most a third of its letters differ.
 *
 * @param word What was said.
 * @param known What there is.
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
  let best: string | undefined;
  let least = Math.floor(Math.max(word.length, 3) / 3) + 1;
  for (const one of known) {
    const distance = differences(word, one);
    if (distance < least) [best, least] = [one, distance];
  }
  return best;
}

/** How many letters have to be put in, taken out, changed, or swapped with their neighbour (optimal string alignment). */
function differences(a: string, b: string): number {
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
