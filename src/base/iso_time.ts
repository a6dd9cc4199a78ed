/** Formats times in ISO 8601. */

/**
 * Formats a time in UTC like `Date.prototype.toISOString`. The first call of that method in a
 * process determines the machine's time zone: in a container without `/etc/localtime` it searches
 * all 3,700 time zone files, which took a fifth of an operator's start.
 *
 * @param time The time in milliseconds since 1970.
 * @throws {RangeError} If it is not a valid time.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(isoTime(1_000_000_000_123), "2001-09-09T01:46:40.123Z");
 * ```
 */
export function isoTime(time: number): string {
  const date = new Date(time);
  const year = date.getUTCFullYear();
  if (Number.isNaN(year)) {
    throw new RangeError(`isoTime(): time must be in milliseconds since 1970, got ${time}.`);
  }
  const day = `${yearText(year)}-${digits(date.getUTCMonth() + 1, 2)}-${digits(date.getUTCDate(), 2)}`;
  const minute = `${digits(date.getUTCHours(), 2)}:${digits(date.getUTCMinutes(), 2)}`;
  return `${day}T${minute}:${digits(date.getUTCSeconds(), 2)}.${digits(date.getUTCMilliseconds(), 3)}Z`;
}

/** Years with more than four digits have six digits and a sign. */
function yearText(year: number): string {
  if (year >= 0 && year <= 9999) return digits(year, 4);
  return `${year < 0 ? "-" : "+"}${digits(Math.abs(year), 6)}`;
}

function digits(number: number, count: number): string {
  return String(number).padStart(count, "0");
}
