/** What differs between two texts, line by line. */

/** How many lines around a difference are shown. */
const AROUND = 3;

/** A line and what became of it. */
interface Line {
  readonly sign: " " | "+" | "-";
  readonly text: string;
}

/**
 * The lines that differ, with some around them; nothing where none do.
 *
 * @param before The text before.
 * @param after The text after.
 * @returns Lines that begin with `+`, `-` or a space; `...` stands for those that are left out.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(textDiff("a\nb\n", "a\nc\n"), [" a", "-b", "+c"]);
 * ```
 */
export function textDiff(before: string, after: string): string[] {
  const lines = merged(linesOf(before), linesOf(after));
  if (lines.every(({ sign }) => sign === " ")) return [];
  const isShown = lines.map((_, i) =>
    lines.slice(Math.max(0, i - AROUND), i + AROUND + 1).some(({ sign }) => sign !== " ")
  );
  return lines.flatMap(({ sign, text }, i) => {
    if (isShown[i]) return [`${sign}${text}`];
    return isShown[i - 1] || i === 0 ? [" ..."] : [];
  });
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

/** By the longest common subsequence: objects have some hundred lines at most. */
function merged(a: readonly string[], b: readonly string[]): Line[] {
  const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i]![j] = a[i] === b[j] ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, common[i]![j + 1]!);
    }
  }
  const lines: Line[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ sign: " ", text: a[i]! });
      i++;
      j++;
    } else if (j === b.length || (i < a.length && common[i + 1]![j]! >= common[i]![j + 1]!)) {
      lines.push({ sign: "-", text: a[i++]! });
    } else lines.push({ sign: "+", text: b[j++]! });
  }
  return lines;
}
