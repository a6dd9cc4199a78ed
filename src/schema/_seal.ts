/**
 * Turns the JSON Schema node of a builder into a schema: copies, validates, freezes and marks it.
 */
import { checkNode, MAX_DEPTH, nestingError } from "./_check.ts";
import { isMarked, mark, type Marks, type Sealed } from "./_marks.ts";
import type { JsonSchema } from "./json_schema.ts";

export { type Marks, marksOf, type Sealed, withMarks } from "./_marks.ts";

/**
 * Returns a schema for a node. Keywords that are `undefined` are dropped; everything else is
 * copied, validated and frozen.
 *
 * @param action The action in messages: `define a string schema`.
 * @param node Its keywords.
 * @param marks The marks for object schemas.
 * @throws {TypeError} If a keyword has the wrong type, or the default does not match the schema.
 * @throws {RangeError} If bounds contradict each other.
 * @throws {SyntaxError} If the pattern is invalid.
 */
export function seal(action: string, node: JsonSchema, marks: Marks = {}): Sealed {
  const copy = copyJson(node, action, []) as JsonSchema;
  checkNode(action, copy);
  return mark(copy, marks);
}

/**
 * Copies and freezes a JSON value. Schemas from builders are not copied: they are frozen already,
 * and a copy would lose its marks.
 */
function copyJson(value: unknown, action: string, ancestors: readonly unknown[]): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value !== "object") {
    throw new TypeError(
      `Cannot ${action}: ${typeof value === "number" ? value : `a ${typeof value}`} is not JSON`,
    );
  }
  if (ancestors.length > 0 && isMarked(value)) return value;
  if (ancestors.includes(value)) throw new TypeError(`Cannot ${action}: a nested value contains itself`);
  if (ancestors.length > MAX_DEPTH) throw nestingError(`Cannot ${action}: `);
  const path = [...ancestors, value];
  if (Array.isArray(value)) return Object.freeze(value.map((item) => copyJson(item, action, path)));
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new TypeError(
      `Cannot ${action}: a nested object is not a plain object: it is an instance of a class, or has the key "__proto__"`,
    );
  }
  const entries: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value)) {
    if (key === "__proto__") throw new TypeError(`Cannot ${action}: "__proto__" is not allowed as a key`);
    if (item !== undefined) entries.push([key, copyJson(item, action, path)]);
  }
  const copy = Object.fromEntries(entries);
  return ancestors.length === 0 ? copy : Object.freeze(copy);
}
