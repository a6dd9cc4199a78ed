/** JSON text with literals that JavaScript values cannot represent. */
import { isObject } from "../../src/base/json.ts";

/** A literal piece of JSON, such as `9223372036854775808` or an object with a duplicate key. */
export class Literal {
  constructor(readonly text: string) {}
}

/** Returns the JSON text of a value with literals. */
export function jsonText(value: unknown): string {
  if (value instanceof Literal) return value.text;
  if (Array.isArray(value)) return `[${value.map(jsonText).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  return `{${Object.entries(value).map(([key, part]) => `${JSON.stringify(key)}:${jsonText(part)}`).join(",")}}`;
}
