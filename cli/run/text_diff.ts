/** The difference of two strings, line by line. */
import { diffArrays } from "diff";

/** Unchanged lines that are shown around a change. */
const AROUND = 3;

/**
 * The most lines that may be added and removed. Time and memory grow with the square of this
 * number, and linearly with the length of the strings: at this limit, a diff takes about a second.
 */
const MOST_CHANGES = 4_000;

/** A line, and whether it was added or removed. */
interface Line {
  readonly sign: " " | "+" | "-";
  readonly text: string;
}

/**
 * Returns the lines that differ, with some unchanged lines around them.
 *
 * @param before The string before.
 * @param after The string after.
 * @returns Lines that begin with `+`, `-` or a space, with `...` for omitted lines. An empty list
 * if
 *   the strings are equal, and one line with their number if thousands of lines differ.
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

/** Counts the lines between the common beginning and the common end. */
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
