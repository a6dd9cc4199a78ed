/**
 * Formats values as Go does (`fmt`, `strconv`, `encoding/json`), because API server messages quote
 * values in this form.
 */
import { isObject } from "../base/json.ts";
import { quoted } from "../base/quoted.ts";

/** Returns whether Go decodes a JSON number as an int64. All others become a float64. */
export function isInt64(value: number): boolean {
  // JavaScript writes the double -2^63 with digits beyond the int64 range.
  return Number.isInteger(value) && Math.abs(value) < 2 ** 63;
}

/**
 * Formats a JSON number like Go's `%v`.
 *
 * @param value The number.
 */
export function goNumber(value: number): string {
  return isInt64(value) ? String(value) : goFloat(value);
}

/**
 * Formats a float64 like Go's `%v`: with an exponent of at least two digits if the absolute value
 * is at least a million, or below 0.0001.
 *
 * @param value The number.
 */
export function goFloat(value: number): string {
  const size = Math.abs(value);
  if (size === 0 || (size >= 1e-4 && size < 1e6)) return String(value);
  return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
}

/**
 * Quotes a string like Go's `%q`.
 *
 * @param text The string. Lone surrogates become U+FFFD, as in Go's JSON decoder.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(goQuote('a "b"\u0007é'), '"a \\"b\\"\\aé"');
 * ```
 */
export function goQuote(text: string): string {
  return quoted(text.toWellFormed());
}

const HTML_CHARACTERS = /[<>&\u2028\u2029]/g;

/**
 * Formats a value like Go's `encoding/json`: keys are sorted, and characters with a meaning in HTML
 * are escaped.
 *
 * @param value The value.
 */
export function goJson(value: unknown): string {
  return (JSON.stringify(value, withSortedKeys) ?? "null").replace(
    HTML_CHARACTERS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function withSortedKeys(_key: string, value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (!isObject(value)) return value;
  const keys = Object.keys(value);
  if (keys.every((key, i) => i === 0 || (keys[i - 1] ?? "") <= key)) return value;
  // Without a prototype, "__proto__" is an ordinary key.
  const sorted: Record<string, unknown> = Object.create(null);
  for (const key of keys.sort()) sorted[key] = value[key];
  return sorted;
}
