/** What differs between two texts, line by line. */
import { diffArrays } from "diff";

/** How many unchanged lines around a change are shown. */
const AROUND = 3;

/**
 * How many lines may be added and removed. Time and memory grow with the square of this number, and only in proportion to the length of the texts: at this
 * bound a diff takes about a second. Nobody reads a longer one.
 */
const MOST_CHANGES = 4_000;

/** A line and what became of it. */
interface Line {
  readonly sign: " " | "+" | "-";
  readonly text: string;
}

/**
 * Returns the lines that differ, with some around them; an empty list if the texts are the same.
 *
 * @param before The text before.
 * @param after The text after.
 * @returns Lines that begin with `+`, `-` or a space; `...` stands for those that are left out. If thousands of lines differ, one line with their number.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(textDiff("a\nb\n", "a\nc\n"), [" a", "-b", "+c"]);
 * ```
 */
export function textDiff(before: string, after: string): string[] {
  const [old, current] = [linesOf(before), linesOf(after)];
  const changes = diffArrays(old, current, { maxEditLength: MOST_CHANGES });
  if (changes === undefined) return [summary(old, current)];
  const lines = changes.flatMap(({ added, removed, value }): Line[] => {
    const sign = added ? "+" : removed ? "-" : " ";
    return value.map((text) => ({ sign, text }));
  });
  if (lines.every(({ sign }) => sign === " ")) return [];
  const isShown = aroundChanges(lines);
  return lines.flatMap(({ sign, text }, i) => {
    if (isShown[i]) return [`${sign}${text}`];
    return isShown[i - 1] || i === 0 ? [" ..."] : [];
  });
}

function aroundChanges(lines: readonly Line[]): boolean[] {
  const isShown = lines.map(() => false);
  for (const [i, { sign }] of lines.entries()) {
    if (sign !== " ") isShown.fill(true, Math.max(0, i - AROUND), i + AROUND + 1);
  }
  return isShown;
}

/** Counts the lines between what both texts begin and end with. */
function summary(before: readonly string[], after: readonly string[]): string {
  const shortest = Math.min(before.length, after.length);
  let head = 0;
  while (head < shortest && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < shortest - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const same = head + tail;
  return `~${Math.max(before.length, after.length) - same} lines differ`;
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}
