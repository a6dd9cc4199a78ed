/** How builders turn a node of JSON Schema into a schema: copied, checked, frozen, and whether it is optional remembered. */
import { checkNode } from "./_check.ts";
import type { JsonSchema } from "./json_schema.ts";

// On the value, but neither enumerable nor JSON: a schema stays exactly what the server is sent, and an object that takes it as a
// property still knows whether it may be left out.
const MADE: unique symbol = Symbol("schema");

/** Whether a schema was made by `s.optional`. */
export function isOptional(schema: JsonSchema): boolean {
  return (schema as { [MADE]?: "optional" | "plain" })[MADE] === "optional";
}

/**
 * A schema out of a node: keywords that are undefined are dropped, everything is copied, checked and frozen.
 *
 * @param what The builder, for messages: `a string`.
 * @param node Its keywords.
 * @throws {TypeError} If a keyword is not of its type, or the default is not of the schema.
 * @throws {RangeError} If bounds contradict each other.
 * @throws {SyntaxError} If the pattern cannot be read.
 */
export function seal(what: string, node: JsonSchema): JsonSchema {
  const copy = copyJson(node, what, []) as JsonSchema;
  checkNode(what, copy);
  return mark(copy, "plain");
}

/** The same schema, to be left out at will. */
export function sealOptional(schema: JsonSchema): JsonSchema {
  return mark({ ...schema }, "optional");
}

function mark(schema: JsonSchema, as: "optional" | "plain"): JsonSchema {
  return Object.freeze(Object.defineProperty(schema, MADE, { value: as }));
}

/** Schemas made here are kept as they are: they are frozen already, and a copy would forget that they are optional. */
function copyJson(value: unknown, what: string, above: readonly unknown[]): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value !== "object") {
    throw new TypeError(
      `Cannot make ${what} schema: ${typeof value === "number" ? value : `a ${typeof value}`} is not JSON`,
    );
  }
  if (above.length > 0 && MADE in value) return value;
  if (above.includes(value)) throw new TypeError(`Cannot make ${what} schema: a value in it contains itself`);
  const path = [...above, value];
  if (Array.isArray(value)) return Object.freeze(value.map((item) => copyJson(item, what, path)));
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new TypeError(
      `Cannot make ${what} schema: an object in it is not plain (an instance of a class, or "__proto__" as a key)`,
    );
  }
  const entries: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value)) {
    if (key === "__proto__") throw new TypeError(`Cannot make ${what} schema: "__proto__" cannot be a key`);
    if (item !== undefined) entries.push([key, copyJson(item, what, path)]);
  }
  const copy = Object.fromEntries(entries);
  return above.length === 0 ? copy : Object.freeze(copy);
}
