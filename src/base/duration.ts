/** Lengths of time, as a program says them and as objects do. */
import { timeSpan } from "./time_span.ts";

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

/**
 * A length of time that an object says, for whatever waits: what `s.duration()` takes may have several units, or words for them.
 *
 * @param text Such as `"1h30m"` or `"3 days"`.
 * @returns The same time, as {@linkcode requeue}, `retry` of a {@linkcode TemporaryError} and `every` take it; to a microsecond.
 * @throws {SyntaxError} If an API server would take it for no duration, or it is negative.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { duration, requeue } from "@op/sdk";
 *
 * const backup = { spec: { every: "1h30m" } };
 * assert.equal(requeue(duration(backup.spec.every)).after, 5_400_000);
 * ```
 */
export function duration(text: string): Duration {
  const nanoseconds = timeSpan(text);
  if (nanoseconds === undefined) {
    throw new SyntaxError(`Cannot read a duration: "${text}" is none; write it as "1h30m", or as "2 days"`);
  }
  if (nanoseconds < 0n) throw new SyntaxError(`Cannot wait for "${text}": it is less than no time`);
  return `${Number(nanoseconds / 1000n) / 1000}ms`;
}
