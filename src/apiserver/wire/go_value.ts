/** Values of JSON as Go prints them once it has read them into its own maps and lists (`fmt`): messages quote them so. */
import { isObject } from "../../base/json.ts";
import { goNumber, isInt64 } from "../../schema/go_text.ts";

/**
 * A value as Go prints it by `%v`.
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
 * A value as Go prints it by `%#v`.
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
 * The kind of a value's Go type, such as `slice`.
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
 * The name of a value's Go type, such as `[]interface {}`.
 *
 * @param value The value.
 */
export function goTypeName(value: unknown): string {
  if (Array.isArray(value)) return "[]interface {}";
  return isObject(value) ? "map[string]interface {}" : goKind(value);
}
