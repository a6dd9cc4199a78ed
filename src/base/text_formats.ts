/**
 * String formats that both schemas and CEL validate (`k8s.io/kube-openapi/pkg/validation/strfmt`).
 */

const TIME = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})$/u;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Returns whether a string is a date: `2026-02-28`.
 *
 * @param text The string.
 */
export function isDate(text: string): boolean {
  const match = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/.exec(text);
  if (match === null) return false;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day >= 1 && day <= (month === 2 && isLeap ? 29 : DAYS[month - 1] ?? 0);
}

/**
 * Returns whether a string is a date and time: `2026-02-28T12:00:00.5Z`. As on the server, text
 * after a second `t` is ignored.
 *
 * @param text The string.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert(isDateTime("2026-02-28t23:59:59+01:00"));
 * assert(!isDateTime("2026-02-29T00:00:00Z"));
 * ```
 */
export function isDateTime(text: string): boolean {
  const [date = "", time] = text.toLowerCase().split("t");
  if (time === undefined || !isDate(date)) return false;
  const match = TIME.exec(time);
  return match !== null && match[1]! <= "23" && match[2]! <= "59" && match[3]! <= "59";
}

/**
 * Returns whether a string is a UUID of any version, with or without dashes.
 *
 * @param text The string.
 */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text);
}

/**
 * Returns whether a string is base64 with the standard alphabet and padding. The empty string is
 * not.
 *
 * @param text The string.
 */
export function isBase64(text: string): boolean {
  return text !== "" && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
}
