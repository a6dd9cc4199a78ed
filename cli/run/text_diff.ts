/** Compares two strings line by line. */
import { diffArrays } from "diff";

/** The number of unchanged lines to show before and after a change. */
const CONTEXT_LINES = 3;

/**
 * The maximum number of added and removed lines. Time and memory grow with the square of this
 * number, and linearly with the length of the strings. At this limit, a diff takes about a second.
 */
const MAX_CHANGES = 4_000;

/** A line with the sign of its change. */
interface Line {
  readonly sign: " " | "+" | "-";
  readonly text: string;
}

/**
 * Returns the lines that differ, with some unchanged lines around them.
 *
 * @param before The string before.
 * @param after The string after.
 * @returns Lines that begin with `+`, `-` or a space, and `...` for omitted lines. The list is
 *   empty if the strings are equal. If thousands of lines differ, it has one line with their
 *   number.
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
  const changes = diffArrays(old, current, { maxEditLength: MAX_CHANGES });
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
    if (sign !== " ") isShown.fill(true, Math.max(0, i - CONTEXT_LINES), i + CONTEXT_LINES + 1);
  }
  return isShown;
}

/** Describes the number of lines between the common beginning and the common end. */
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
