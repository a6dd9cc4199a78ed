/** Durations in code and in objects. */
import { timeSpan } from "./time_span.ts";

/** A duration as a string that the compiler checks, such as `"90s"` or `"1.5h"`. */
export type Duration = `${number}${"ms" | "s" | "m" | "h"}`;

const UNIT = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/**
 * Converts a duration to milliseconds.
 *
 * @param duration The duration.
 * @returns Milliseconds, zero or more.
 * @throws {SyntaxError} If it is not a non-negative number followed by `ms`, `s`, `m` or `h`.
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
    throw new SyntaxError(`Invalid duration "${duration}": must be a number followed by "ms", "s", "m" or "h".`);
  }
  return Number(match[1]) * UNIT[match[2] as keyof typeof UNIT];
}

/**
 * Converts a duration in an object to a {@linkcode Duration}. A value of `s.duration()` may have
 * several units, or units in words.
 *
 * @param text The value, such as `"1h30m"` or `"3 days"`.
 * @returns The same duration, rounded to a microsecond, in the form for {@linkcode requeue}, the
 *   `retry` option of {@linkcode TemporaryError} and `every`.
 * @throws {SyntaxError} If an API server would reject it, or it is negative.
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
    throw new SyntaxError(`Invalid duration "${text}". Write it like "1h30m" or "2 days".`);
  }
  if (nanoseconds < 0n) throw new SyntaxError(`Invalid duration "${text}": must not be negative.`);
  return `${Number(nanoseconds / 1000n) / 1000}ms`;
}
