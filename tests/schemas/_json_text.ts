/** JSON as text, with literals that a value of JavaScript cannot hold. */
import { isObject } from "../../src/base/json.ts";

/** A piece of JSON that is sent as it stands, such as `9223372036854775808` or an object that says a key twice. */
export class Literal {
  constructor(readonly text: string) {}
}

/** The JSON text of a value with literals in it. */
export function jsonText(value: unknown): string {
  if (value instanceof Literal) return value.text;
  if (Array.isArray(value)) return `[${value.map(jsonText).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  return `{${Object.entries(value).map(([key, part]) => `${JSON.stringify(key)}:${jsonText(part)}`).join(",")}}`;
}
