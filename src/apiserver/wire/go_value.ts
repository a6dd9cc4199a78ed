/** Formats decoded JSON as Go's `fmt` does, for messages that quote it. */
import { isObject } from "../../base/json.ts";
import { goNumber, isInt64 } from "../../schema/go_text.ts";

/**
 * Formats a value as `%v`.
 *
 * @param value The value.
 */
export function goValue(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (typeof value === "number") return goNumber(value);
  if (Array.isArray(value)) return `[${value.map(goValue).join(" ")}]`;
  if (!isObject(value)) return String(value);
  return `map[${Object.keys(value).sort().map((key) => `${key}:${goValue(value[key])}`).join(" ")}]`;
}

/**
 * Formats a value as `%#v`.
 *
 * @param value The value.
 */
export function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return "interface {}(nil)";
  if (typeof value === "number") return goNumber(value);
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(", ")}}`;
  if (!isObject(value)) return String(value);
  const parts = Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${goSyntax(value[key])}`);
  return `map[string]interface {}{${parts.join(", ")}}`;
}

/**
 * Returns the name of a value's JSON type in messages of Go's decoder, such as `array`.
 *
 * @param value The decoded JSON.
 */
export function jsonTypeName(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

/**
 * Returns the kind of a value's Go type, such as `slice`.
 *
 * @param value The value.
 */
export function goKind(value: unknown): string {
  if (value === null || value === undefined) return "invalid";
  if (Array.isArray(value)) return "slice";
  if (isObject(value)) return "map";
  if (typeof value === "number") return isInt64(value) ? "int64" : "float64";
  return typeof value === "boolean" ? "bool" : typeof value;
}

/**
 * Returns the name of a value's Go type, such as `[]interface {}`.
 *
 * @param value The value.
 */
export function goTypeName(value: unknown): string {
  if (Array.isArray(value)) return "[]interface {}";
  return isObject(value) ? "map[string]interface {}" : goKind(value);
}
