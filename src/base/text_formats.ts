/** Formats of texts that both schemas and CEL know (`k8s.io/kube-openapi/pkg/validation/strfmt`). */

const TIME = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})$/u;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Whether a text is a day: `2026-02-28`.
 *
 * @param text The text.
 */
export function isDate(text: string): boolean {
  const match = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/.exec(text);
  if (match === null) return false;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day >= 1 && day <= (month === 2 && isLeap ? 29 : DAYS[month - 1] ?? 0);
}

/**
 * Whether a text is a point in time: `2026-02-28T12:00:00.5Z`. What stands behind a second `t` is not looked at, as by the
 * server.
 *
 * @param text The text.
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
 * Whether a text is a UUID, of any version, with or without dashes.
 *
 * @param text The text.
 */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text);
}

/**
 * Whether a text is base64, with the standard alphabet and padding. The empty text is none.
 *
 * @param text The text.
 */
export function isBase64(text: string): boolean {
  return text !== "" && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
}
