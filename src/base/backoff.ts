/** Options for {@linkcode backoff}. */
export interface BackoffOptions {
  /** First delay in milliseconds. @default {5} */
  first?: number;
  /** Longest delay in milliseconds. @default {1_000_000} */
  longest?: number;
  /**
   * A number from 0 to 1 for jitter: 0 means three quarters of the delay, 1 all of it. @default {1}
   */
  spread?: number;
}

/**
 * Returns the delay before the next attempt. It doubles with each failure up to `longest`. The
 * defaults are client-go's (5 ms, 1000 s).
 *
 * @param failures The number of consecutive failures, from 1.
 * @param options Additional options.
 * @returns The delay in milliseconds.
 * @throws {RangeError} If `failures` is not a positive integer.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(backoff(1), 5);
 * assert.equal(backoff(40), 1_000_000);
 * ```
 */
export function backoff(failures: number, options: BackoffOptions = {}): number {
  const { first = 5, longest = 1_000_000, spread = 1 } = options;
  if (!Number.isInteger(failures) || failures < 1) {
    throw new RangeError(
      `backoff(): failures must be a positive integer, got ${failures}.`,
    );
  }
  return Math.min(longest, first * 2 ** (failures - 1)) * (0.75 + 0.25 * spread);
}
