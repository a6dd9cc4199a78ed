/** Limits the log lines that a client can cause, so that no client can flood the log. */
import type { Clock } from "../base/clock.ts";

/** Options of {@linkcode LogLimit}. */
export interface LogLimitOptions {
  readonly clock: Clock;
  /** Number of lines of one kind per period. @default {10} */
  readonly lines?: number;
  /** The period, in milliseconds. @default {60_000} */
  readonly period?: number;
}

interface Period {
  since: number;
  written: number;
  suppressed: number;
}

/**
 * Limits log lines by kind. Lines beyond the limit are counted. The next line of that kind has
 * their number in its field `suppressed`.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { systemClock } from "../base/clock.ts";
 *
 * const limit = new LogLimit({ clock: systemClock, lines: 1 });
 * assert.deepEqual(limit.next("Webhook failed"), {});
 * assert.equal(limit.next("Webhook failed"), undefined);
 * ```
 */
export class LogLimit {
  readonly #options: LogLimitOptions;
  readonly #periods = new Map<string, Period>();

  constructor(options: LogLimitOptions) {
    this.#options = options;
  }

  /**
   * Counts a line.
   *
   * @param kind The kind of line, such as the message and the webhook's path. There must be few
   * kinds.
   * @returns Additional fields of the line, or `undefined` if the line must be suppressed.
   */
  next(kind: string): { readonly suppressed?: number } | undefined {
    const { clock, lines = 10, period = 60_000 } = this.#options;
    const now = clock.elapsed();
    let current = this.#periods.get(kind);
    if (current === undefined) this.#periods.set(kind, current = { since: now, written: 0, suppressed: 0 });
    if (now - current.since >= period) Object.assign(current, { since: now, written: 0 });
    if (current.written >= lines) {
      current.suppressed++;
      return undefined;
    }
    current.written++;
    const { suppressed } = current;
    current.suppressed = 0;
    return suppressed === 0 ? {} : { suppressed };
  }
}
