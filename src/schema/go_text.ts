/** Values as Go prints them: messages of an API server quote them so (`fmt`, `strconv`, `encoding/json`). */
import { isObject } from "../base/json.ts";
import { quoted } from "../base/quoted.ts";

/** Whether Go reads a number of JSON as an int64, by its digits in JSON; all others are a float64. */
export function isInt64(value: number): boolean {
  // The double -2^63 is written with other digits, which are beyond.
  return Number.isInteger(value) && Math.abs(value) < 2 ** 63;
}

/**
 * A number of JSON as Go prints it by `%v`.
 *
 * @param value The number.
 */
export function goNumber(value: number): string {
  return isInt64(value) ? String(value) : goFloat(value);
}

/**
 * A float64 as Go prints it by `%v`: with an exponent of two digits at least from a million on, and below 0.0001.
 *
 * @param value The number.
 */
export function goFloat(value: number): string {
  const size = Math.abs(value);
  if (size === 0 || (size >= 1e-4 && size < 1e6)) return String(value);
  return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
}

/**
 * A text as Go quotes it by `%q`.
 *
 * @param text The text. Halves of surrogate pairs are no characters: JSON that holds them is read as if it did not.
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

const FOR_HTML = /[<>&\u2028\u2029]/g;

/**
 * A JSON value as Go's `encoding/json` writes it: keys in order, and nothing that HTML would take for markup.
 *
 * @param value The value.
 */
export function goJson(value: unknown): string {
  return (JSON.stringify(value, inOrder) ?? "null").replace(
    FOR_HTML,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function inOrder(_key: string, value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (!isObject(value)) return value;
  const keys = Object.keys(value);
  if (keys.every((key, i) => i === 0 || (keys[i - 1] ?? "") <= key)) return value;
  // Without a prototype, "__proto__" is a key like any other.
  const sorted: Record<string, unknown> = Object.create(null);
  for (const key of keys.sort()) sorted[key] = value[key];
  return sorted;
}
