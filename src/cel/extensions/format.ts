/**
 * `text.format(values)` (cel-go, ext/formatting.go). Numbers with a fraction are formatted for
 * `en_US`, the default of API servers.
 */
import { fixedDigits, scientificDigits } from "../exact_decimal.ts";
import { exponentText, shortestText } from "../number_text.ts";
import { quotedText } from "../quoted_text.ts";
import { typeOfValue } from "../runtime_type.ts";
import { durationText, timestampText } from "../time.ts";
import { typeName } from "../type.ts";
import { CelError, DurationValue, List, MapValue, Timestamp, TypeValue, Uint, type Value } from "../value.ts";
import { type Clause, expandClauses, type Verb } from "./format_clauses.ts";

/**
 * Formats values.
 *
 * @param text The format string with the verbs `%s`, `%d`, `%.2f` and so on.
 * @param values The values, in the order of the verbs.
 * @throws {CelError} If the format string is invalid, or a value has the wrong type.
 */
export function format(text: string, values: List): Value {
  const { items } = values;
  return expandClauses(text, items.length, (index, clause) => {
    const value = items[index]!;
    try {
      return formatValue(value, clause);
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      throw new CelError(`error during formatting: ${error.message}`);
    }
  }, (index) => {
    if (index >= items.length) throw new CelError(`index ${index} out of range`);
  });
}

/** The error of each verb for a value of the wrong type. */
export const WRONG_TYPE_MESSAGES: { readonly [verb in Verb]: string } = {
  s: "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps",
  d: "decimal clause can only be used on integers",
  f: "fixed-point clause can only be used on doubles",
  e: "scientific clause can only be used on doubles",
  b: "only integers and bools can be formatted as binary",
  x: "only integers, byte buffers, and strings can be formatted as hex",
  X: "only integers, byte buffers, and strings can be formatted as hex",
  o: "octal clause can only be used on integers",
};

function wrongTypeError(value: Value, verb: Verb): CelError {
  return new CelError(`${WRONG_TYPE_MESSAGES[verb]}, was given ${typeName(typeOfValue(value))}`);
}

function formatValue(value: Value, { verb, precision }: Clause): string {
  switch (verb) {
    case "s":
      return textOf(value);
    case "d":
      return inBase(value, 10, verb);
    case "o":
      return inBase(value, 8, verb);
    case "b":
      return typeof value === "boolean" ? String(Number(value)) : inBase(value, 2, verb);
    case "x":
      return hexadecimal(value, verb);
    case "X":
      return hexadecimal(value, verb).toUpperCase();
    case "f":
      // cel-go stores the precision in a byte.
      return localFixed(doubleOf(value, verb), (precision ?? 6) % 256);
    case "e":
      // cel-go uses the precision as a width.
      return localScientific(doubleOf(value, verb)).padStart(precision ?? 6);
  }
}

function textOf(value: Value): string {
  if (value === null) return "null";
  switch (typeof value) {
    case "string":
      return value;
    case "boolean":
    case "bigint":
      return String(value);
    case "number":
      return shortestText(value);
  }
  if (value instanceof Uint) return String(value.value);
  if (value instanceof List) return `[${value.items.map(literalOf).join(", ")}]`;
  if (value instanceof MapValue) return mapText(value);
  if (value instanceof Timestamp) return timestampText(value);
  if (value instanceof DurationValue) return durationText(value);
  if (value instanceof Uint8Array) return bytesText(value);
  if (value instanceof TypeValue) return typeName(value.type);
  throw wrongTypeError(value, "s");
}

function bytesText(value: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(value);
  } catch {
    throw new CelError('could not convert argument "invalid UTF-8 in bytes, cannot convert to string" to string');
  }
}

/** Formats a value inside of a list or map as a literal. */
function literalOf(value: Value): string {
  if (typeof value === "string") return quotedText(value);
  if (value instanceof Uint8Array) return `b${quotedText(bytesText(value))}`;
  if (value instanceof Timestamp) return `timestamp(${quotedText(timestampText(value))})`;
  if (value instanceof DurationValue) return `duration(${quotedText(durationText(value))})`;
  if (typeof value === "number") {
    return Number.isFinite(value) ? plainFixed(value, 6) : quotedText(shortestText(value));
  }
  const { kind } = typeOfValue(value);
  if (kind === "optional" || kind === "opaque") {
    throw new CelError(`no formatting function for ${typeName(typeOfValue(value))}`);
  }
  return textOf(value);
}

function mapText(map: MapValue): string {
  const entries: (readonly [string, string])[] = [];
  for (const key of map.keys()) {
    const isKey = typeof key === "string" || typeof key === "boolean" || typeof key === "bigint" || key instanceof Uint;
    if (!isKey) throw new CelError(`no formatting function for map key of type ${typeName(typeOfValue(key))}`);
    entries.push([literalOf(key), literalOf(map.get(key) ?? null)]);
  }
  entries.sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0);
  return `{${entries.map(([key, value]) => `${key}:${value}`).join(", ")}}`;
}

function inBase(value: Value, base: number, verb: Verb): string {
  if (typeof value === "bigint") return value.toString(base);
  if (value instanceof Uint) return value.value.toString(base);
  throw wrongTypeError(value, verb);
}

function hexadecimal(value: Value, verb: Verb): string {
  const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
  if (!(bytes instanceof Uint8Array)) return inBase(value, 16, verb);
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const SPECIAL_DOUBLES: { readonly [text: string]: number } = { NaN: NaN, Infinity: Infinity, "-Infinity": -Infinity };

function doubleOf(value: Value, verb: Verb): number {
  const double = typeof value === "string" && Object.hasOwn(SPECIAL_DOUBLES, value) ? SPECIAL_DOUBLES[value] : value;
  if (typeof double !== "number") throw wrongTypeError(value, verb);
  return double;
}

function plainFixed(value: number, precision: number): string {
  const { whole, fraction } = fixedDigits(value, precision);
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  return precision === 0 ? `${sign}${whole}` : `${sign}${whole}.${fraction}`;
}

function localFixed(value: number, precision: number): string {
  if (!Number.isFinite(value)) return nonFiniteText(value);
  const { whole, fraction } = fixedDigits(value, precision);
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ",");
  return `${value < 0 ? "-" : ""}${grouped}${precision === 0 ? "" : "."}${fraction}`;
}

const SUPERSCRIPTS: { readonly [character: string]: string } = {
  "0": "⁰",
  "1": "¹",
  "2": "²",
  "3": "³",
  "4": "⁴",
  "5": "⁵",
  "6": "⁶",
  "7": "⁷",
  "8": "⁸",
  "9": "⁹",
  "-": "⁻",
  "+": "",
};

function localScientific(value: number): string {
  if (!Number.isFinite(value)) return nonFiniteText(value);
  const { digits, exponent } = scientificDigits(value, 6);
  const superscript = exponentText(exponent).replace(/./g, (character) => SUPERSCRIPTS[character]!);
  return `${value < 0 ? "-" : ""}${digits[0]}.${digits.slice(1)}×10${superscript}`;
}

function nonFiniteText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  return value > 0 ? "∞" : "-∞";
}
