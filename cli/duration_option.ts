/** Durations on the command line. */
import { duration } from "@op/sdk";
import { UsageError } from "./exit_code.ts";

/**
 * Returns the value of a duration option in milliseconds. A number without a unit is in seconds,
 * for compatibility with earlier versions.
 *
 * @param text The value: `20s`, `2m`, `1h30m`, `20`.
 * @param flag The option, for the error: `--timeout`.
 * @param minimum The smallest accepted number of milliseconds. @default {1}
 * @throws {UsageError} If it is not a duration, or too short.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(durationOption("1m30s", "--timeout"), 90_000);
 * assert.equal(durationOption("20", "--timeout"), 20_000);
 * assert.throws(() => durationOption("soon", "--timeout"));
 * ```
 */
export function durationOption(text: string, flag: string, minimum = 1): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : parse(text);
  if (value !== undefined && value >= minimum) return value;
  throw new UsageError(
    `Cannot use ${flag} "${text}": it must be a duration${
      minimum > 0 ? " greater than zero" : ""
    }, such as 20s, 2m or 1h30m.`,
  );
}

function parse(text: string): number | undefined {
  try {
    return Number.parseFloat(duration(text));
  } catch {
    return undefined;
  }
}

/** Returns milliseconds as messages show them: `20 s`, `500 ms`. */
export function shownDuration(milliseconds: number): string {
  return milliseconds >= 1000 ? `${milliseconds / 1000} s` : `${milliseconds} ms`;
}
