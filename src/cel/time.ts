/**
 * Parses and formats timestamps and durations as Go's package `time` does, and computes calendars
 * of time zones.
 */
import { goSpan } from "../base/time_span.ts";
import { plainText } from "./number_text.ts";
import { CelError, DurationValue, Timestamp } from "./value.ts";

/** The first second of the year 1 and the last second of 9999, the bounds of timestamps. */
export const FIRST_SECOND = -62135596800n;
export const LAST_SECOND = 253402300799n;

const SECOND = 1_000_000_000n;
const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{1,2}):(\d{2}):(\d{2})(?:[.,](\d+))?(?:Z|([+-])(\d{2}):(\d{2}))$/;

/**
 * Parses a timestamp in RFC 3339; returns `undefined` if it is invalid. The result may be outside
 * of the bounds.
 */
export function parseTimestamp(text: string): Timestamp | undefined {
  const match = RFC3339.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const [, , , , , , , fraction = "", sign, zoneHour = "0", zoneMinute = "0"] = match;
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  if (Number(zoneHour) > 24 || Number(zoneMinute) > 60) return undefined;
  const offset = (Number(zoneHour) * 3600 + Number(zoneMinute) * 60) * (sign === "-" ? -1 : 1);
  const seconds = secondsOf(year, month, day) + hour * 3600 + minute * 60 + second - offset;
  return new Timestamp(BigInt(seconds), Number(fraction.slice(0, 9).padEnd(9, "0")), offset);
}

/** Formats a timestamp in RFC 3339, with its original offset and no trailing zeros. */
export function timestampText(time: Timestamp): string {
  const { year, month, day, hour, minute, second } = calendarOf(time, time.offset);
  const date = `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
  const fraction = pad(time.nanoseconds, 9).replace(/0+$/, "");
  const clock = `${pad(hour, 2)}:${pad(minute, 2)}:${pad(second, 2)}${fraction === "" ? "" : `.${fraction}`}`;
  const minutes = Math.floor(Math.abs(time.offset) / 60);
  const zone = minutes === 0
    ? "Z"
    : `${time.offset < 0 ? "-" : "+"}${pad(Math.floor(minutes / 60), 2)}:${pad(minutes % 60, 2)}`;
  return `${date}T${clock}${zone}`;
}

/**
 * Parses a duration such as `1h30m` or `-1.5s`; returns `undefined` if it is invalid or out of
 * range.
 */
export function parseDuration(text: string): DurationValue | undefined {
  const nanoseconds = goSpan(text);
  return nanoseconds === undefined ? undefined : new DurationValue(nanoseconds);
}

/** Formats a duration in seconds: `5400s`, `-1.5s`. */
export function durationText(span: DurationValue): string {
  return `${plainText(spanInUnit(span, SECOND))}s`;
}

/** Returns a duration as a number of units, with a fraction. The unit is in nanoseconds. */
export function spanInUnit({ nanoseconds }: DurationValue, unit: bigint): number {
  return Number(nanoseconds / unit) + Number(nanoseconds % unit) / Number(unit);
}

/** Adds a duration to a timestamp. */
export function addDuration(time: Timestamp, nanoseconds: bigint): Timestamp {
  const total = time.seconds * SECOND + BigInt(time.nanoseconds) + nanoseconds;
  const rest = ((total % SECOND) + SECOND) % SECOND;
  const seconds = (total - rest) / SECOND;
  if (seconds < FIRST_SECOND || seconds > LAST_SECOND) throw new CelError("timestamp overflow");
  return new Timestamp(seconds, Number(rest), time.offset);
}

/** A date and a time of day. */
export interface Calendar {
  readonly year: number;
  /** From 1. */
  readonly month: number;
  /** From 1. */
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

/** Returns the calendar of a timestamp at an offset in seconds east of UTC. */
export function calendarOf(time: Timestamp, offset: number): Calendar {
  const date = new Date((Number(time.seconds) + offset) * 1000);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
  };
}

/**
 * Returns the calendar of a timestamp in a time zone.
 *
 * @param zone An offset such as `+02:00` or `-8:30`, or an IANA name. Empty and `UTC` mean UTC.
 * @throws {CelError} If the time zone does not exist.
 */
export function calendarIn(time: Timestamp, zone: string): Calendar {
  const colon = zone.indexOf(":");
  if (colon < 0) return zone === "" || zone === "UTC" ? calendarOf(time, 0) : namedCalendar(time, zone);
  const hours = zoneNumber(zone.slice(0, colon));
  const minutes = zoneNumber(zone.slice(colon + 1));
  const offset = zone.startsWith("-") ? hours * 60 - minutes : hours * 60 + minutes;
  return calendarOf(time, offset * 60);
}

/** Returns the day of the week, with Sunday as 0. */
export function dayOfWeek({ year, month, day }: Calendar): number {
  return ((Math.floor(secondsOf(year, month, day) / 86400) + 4) % 7 + 7) % 7;
}

/** Returns the day of the year, from 0. */
export function dayOfYear({ year, month, day }: Calendar): number {
  return (secondsOf(year, month, day) - secondsOf(year, 1, 1)) / 86400;
}

// Formatters by time zone. Creating one takes a millisecond, and rules use few time zones. Entries
// cannot become stale, since a formatter depends only on its time zone.
const formatters = new Map<string, Intl.DateTimeFormat>();

function namedCalendar(time: Timestamp, zone: string): Calendar {
  const parts: { [part: string]: number } = {};
  let era = "";
  for (const { type, value } of formatterFor(zone).formatToParts(new Date(Number(time.seconds) * 1000))) {
    if (type === "era") era = value;
    else parts[type] = Number(value);
  }
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return { year: era === "B" || era === "BC" ? 1 - year : year, month, day, hour, minute, second };
}

function formatterFor(zone: string): Intl.DateTimeFormat {
  const known = formatters.get(zone);
  if (known !== undefined) return known;
  // Go looks up a file by name; Intl ignores case.
  if (zone === zone.toLowerCase()) throw new CelError(`unknown time zone ${zone}`);
  try {
    const formatter = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      era: "short",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    formatters.set(zone, formatter);
    return formatter;
  } catch {
    throw new CelError(`unknown time zone ${zone}`);
  }
}

function zoneNumber(text: string): number {
  if (!/^[+-]?[0-9]+$/.test(text)) throw new CelError(`strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

function daysIn(year: number, month: number): number {
  return (secondsOf(month === 12 ? year + 1 : year, month % 12 + 1, 1) - secondsOf(year, month, 1)) / 86400;
}

/**
 * Returns the seconds from 1970 to the start of a day. `Date.UTC` misinterprets years before 100.
 */
function secondsOf(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month - 1, day) / 1000;
}

function pad(value: number, digits: number): string {
  return String(value).padStart(digits, "0");
}
