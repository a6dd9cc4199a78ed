/** Accessors of timestamps and durations (cel-go, common/stdlib/standard.go). */
import type { FunctionDeclaration, Overload } from "../function.ts";
import { type Calendar, calendarIn, dayOfWeek, dayOfYear, spanInUnit } from "../time.ts";
import { DURATION, INT, STRING, TIMESTAMP } from "../type.ts";
import type { DurationValue, Timestamp, Value } from "../value.ts";

const SECOND = 1_000_000_000n;

/** The functions. */
export const TIME_FUNCTIONS: readonly FunctionDeclaration[] = [
  getter("getFullYear", "year", (date) => date.year),
  getter("getMonth", "month", (date) => date.month - 1),
  getter("getDayOfYear", "day_of_year", dayOfYear),
  getter("getDayOfMonth", "day_of_month", (date) => date.day - 1),
  getter("getDate", "day_of_month_1_based", (date) => date.day),
  getter("getDayOfWeek", "day_of_week", dayOfWeek),
  getter("getHours", "hours", (date) => date.hour, (span) => spanInUnit(span, 3600n * SECOND)),
  getter("getMinutes", "minutes", (date) => date.minute, (span) => spanInUnit(span, 60n * SECOND)),
  getter("getSeconds", "seconds", (date) => date.second, (span) => spanInUnit(span, SECOND)),
  getter(
    "getMilliseconds",
    "milliseconds",
    (_, time) => Math.trunc(time.nanoseconds / 1_000_000),
    (span) => Number(span.nanoseconds / 1_000_000n),
  ),
];

function getter(
  name: string,
  unit: string,
  ofTime: (date: Calendar, time: Timestamp) => number,
  ofSpan?: (span: DurationValue) => number,
): FunctionDeclaration {
  const read = (time?: Value, zone: Value = "UTC") =>
    BigInt(ofTime(calendarIn(time as Timestamp, zone as string), time as Timestamp));
  // One id is irregular in cel-go.
  const zoned = unit === "seconds" ? "timestamp_to_seconds_tz" : `timestamp_to_${unit}_with_tz`;
  const overloads: Overload[] = [
    { id: `timestamp_to_${unit}`, isMember: true, parameters: [TIMESTAMP], result: INT, call: read },
    { id: zoned, isMember: true, parameters: [TIMESTAMP, STRING], result: INT, call: read },
  ];
  if (ofSpan !== undefined) {
    overloads.push({
      id: `duration_to_${unit}`,
      isMember: true,
      parameters: [DURATION],
      result: INT,
      call: (span) => BigInt(Math.trunc(ofSpan(span as DurationValue))),
    });
  }
  return { name, overloads };
}
