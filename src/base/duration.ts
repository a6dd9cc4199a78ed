/** A length of time as text the compiler checks, such as `"90s"` or `"1.5h"`. */
export type Duration = `${number}${"ms" | "s" | "m" | "h"}`;

const UNIT = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/**
 * A duration in milliseconds.
 *
 * @param duration The text.
 * @returns Milliseconds, zero or more.
 * @throws {SyntaxError} If the text is no number followed by `ms`, `s`, `m` or `h`, or is negative.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(milliseconds("10m"), 600_000);
 * ```
 */
export function milliseconds(duration: Duration): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(duration);
  if (!match) {
    throw new SyntaxError(`Cannot read a duration: "${duration}" is not a number with "ms", "s", "m" or "h" behind it`);
  }
  return Number(match[1]) * UNIT[match[2] as keyof typeof UNIT];
}
