/**
 * Dates and times in values of a schema (`k8s.io/kube-openapi/pkg/validation/strfmt`, date.go,
 * time.go).
 */
import { isDate } from "../../base/text_formats.ts";
import { parseTimestamp, timestampText } from "../../cel/time.ts";
import { Timestamp } from "../../cel/value.ts";
import { goQuote } from "../go_text.ts";

/**
 * Parses a date.
 *
 * @param text A date.
 * @returns The start of the day in UTC, or Go's error message.
 */
export function parseDate(text: string): Timestamp | string {
  const time = isDate(text) ? parseTimestamp(`${text}T00:00:00Z`) : undefined;
  return time ?? parseError(text, "2006-01-02");
}

/** The elements of Go layouts. */
const PARTS: Readonly<Record<string, RegExp>> = {
  "2006": /^\d{4}/,
  "01": /^\d{2}/,
  "02": /^\d{2}/,
  "15": /^\d{1,2}/,
  "04": /^\d{2}/,
  "05": /^\d{2}(?:[.,]\d+)?/,
  "05 alone": /^\d{2}/,
  ".000000": /^\.\d{6}/,
  "Z07:00": /^(?:Z|[+-]\d{2}:\d{2})/,
};

/** Returns Go's error message for a string that does not match a layout (`time`, Parse). */
function parseError(text: string, layout: string): string {
  let rest = text;
  for (const part of layout.match(/Z07:00|\.0+|\d+|\D/g) ?? []) {
    const form = part === "05" && layout.includes("05.") ? "05 alone" : part;
    const match = (PARTS[form] ?? new RegExp(`^${part}`)).exec(rest);
    if (match === null) {
      return `parsing time ${goQuote(text)} as ${goQuote(layout)}: cannot parse ${goQuote(rest)} as ${goQuote(part)}`;
    }
    // Go checks the range of each part as it parses it, except for the day.
    const tooLarge = outOfRangePart(part, match[0]);
    if (tooLarge !== undefined) return `parsing time ${goQuote(text)}: ${tooLarge} out of range`;
    rest = rest.slice(match[0].length);
  }
  if (rest !== "") return `parsing time ${goQuote(text)}: extra text: ${goQuote(rest)}`;
  return `parsing time ${goQuote(text)}: day out of range`;
}

function outOfRangePart(part: string, text: string): string | undefined {
  const number = Number(text.replace(/[.,]\d+$/, ""));
  if (part === "01" && (number < 1 || number > 12)) return "month";
  if (part === "15" && number >= 24) return "hour";
  if (part === "04" && number >= 60) return "minute";
  if (part === "05" && number >= 60) return "second";
  if (part !== "Z07:00" || text === "Z") return undefined;
  if (Number(text.slice(1, 3)) > 24) return "time zone offset hour";
  return Number(text.slice(4)) > 60 ? "time zone offset minute" : undefined;
}

/**
 * Parses a date and time.
 *
 * @param text The string.
 * @returns The timestamp, or Go's error message.
 */
export function parseDateTime(text: string): Timestamp | string {
  const time = parseTimestamp(text) ?? parseTimestamp(`${text}Z`);
  if (time !== undefined) return time;
  return parseError(text, "2006-01-02T15:04:05");
}

/**
 * Parses a time of `metadata` (`time`, RFC3339).
 *
 * @param text The string.
 * @returns The timestamp, or Go's error message.
 */
export function parseGoTime(text: string): Timestamp | string {
  return parseTimestamp(text) ?? parseError(text, "2006-01-02T15:04:05Z07:00");
}

/**
 * Parses a time with microseconds, such as a Lease's. All six digits are required.
 *
 * @param text The string.
 * @returns The timestamp, or Go's error message.
 */
export function parseGoMicroTime(text: string): Timestamp | string {
  const time = /:\d{2}\.\d{6}(?:Z|[+-])/.test(text) ? parseTimestamp(text) : undefined;
  return time ?? parseError(text, "2006-01-02T15:04:05.000000Z07:00");
}

/** Formats a timestamp like the times in `metadata`: in UTC, in whole seconds. */
export function wholeSeconds({ seconds }: Timestamp): string {
  return timestampText(new Timestamp(seconds, 0, 0));
}
