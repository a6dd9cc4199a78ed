/**
 * Cron schedules. Only programs with such a schedule load this module and its library: import it
 * dynamically.
 */
import { Cron } from "croner";

/** When a cron schedule occurs. */
export interface CronSchedule {
  /**
   * Returns the first time after another at which the schedule occurs. Both are milliseconds since
   * the epoch.
   */
  next(after: number): number;
}

const ADVICE =
  'Write five fields: minute, hour, day of month, month, day of week ("30 2 * * *"); put seconds in front for six; ' +
  'or use "@hourly", "@daily", "@weekly", "@monthly" or "@yearly".';

/**
 * Creates a cron schedule.
 *
 * Clock changes are handled as in most implementations of cron. The rule depends on the hours,
 * minutes and seconds of the expression:
 *
 * - Without `*` and `/`, they are times of day, such as `30 2 * * *`. A time that is skipped occurs
 *   when the clock is set forward: 02:30 at 03:00. Several skipped times occur once. A time that is
 *   repeated occurs once, the first time.
 * - With `*` or `/`, they are an interval, such as ten minutes. It continues through the change:
 *   skipped times do not occur, and repeated times occur twice.
 *
 * If both the day of month and the day of week are restricted, either must match.
 *
 * @param expression Five fields, six fields with seconds in front, or a nickname such as `@daily`.
 *   {@link https://croner.56k.guru/usage/pattern/ | croner} documents the fields.
 * @param timeZone The name of a time zone in the IANA database, such as `Europe/Berlin`.
 * @throws {SyntaxError} If the expression is invalid.
 * @throws {RangeError} If the time zone is unknown, or the schedule never occurs.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const nightly = cronSchedule("30 2 * * *", "Europe/Berlin");
 * const next = nightly.next(Date.UTC(2027, 2, 28));
 * assert.equal(next, Date.UTC(2027, 2, 28, 1)); // 03:00, because 02:30 is skipped
 * ```
 */
export function cronSchedule(expression: string, timeZone: string = "UTC"): CronSchedule {
  checkTimeZone(timeZone);
  const cron = parse(expression, timeZone);
  // The year does not matter: if the schedule occurs at all, it occurs again and again.
  if (cron.nextRun(new Date(0)) === null) {
    throw new RangeError(`Cron expression "${expression}": it never occurs. Use a day that the month has.`);
  }
  return new CachedSchedule(cron);
}

/**
 * Objects with the same schedule ask for the same time, so the last result is cached: a calculation
 * takes about 60 µs.
 */
class CachedSchedule implements CronSchedule {
  readonly #cron: Cron;
  /** There is no occurrence between `after` and `next`. */
  #last = { after: Infinity, next: -Infinity };

  constructor(cron: Cron) {
    this.#cron = cron;
  }

  next(after: number): number {
    if (after < this.#last.after || after >= this.#last.next) {
      this.#last = { after, next: this.#cron.nextRun(new Date(after))?.getTime() ?? Infinity };
    }
    return this.#last.next;
  }
}

function checkTimeZone(timeZone: string): void {
  try {
    // Offsets such as "+02:00" are rejected, because they have no clock changes.
    if (/^[A-Za-z]/.test(timeZone) && new Intl.DateTimeFormat("en", { timeZone })) return;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw new RangeError(`Unknown time zone "${timeZone}". Use a name such as "Europe/Berlin" or "UTC".`);
}

function parse(expression: string, timeZone: string): Cron {
  // The library also accepts a date, which would occur once.
  if (expression.includes(":")) throw new SyntaxError(`Cron expression "${expression}": it is a date. ${ADVICE}`);
  try {
    return new Cron(expression, { mode: "5-or-6-parts", fixedTimeRule: "no-wildcard", timezone: timeZone });
  } catch (cause) {
    throw new SyntaxError(`Cron expression "${expression}": invalid (${(cause as Error).message}). ${ADVICE}`, {
      cause,
    });
  }
}
