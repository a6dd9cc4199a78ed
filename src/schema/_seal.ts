/** How builders turn a node of JSON Schema into a schema: copied, checked, frozen, and what objects have to know of it remembered. */
import { checkNode, DEEPEST, tooDeep } from "./_check.ts";
import { isMarked, mark, type Marks, type Sealed } from "./_marks.ts";
import type { JsonSchema } from "./json_schema.ts";

export { type Marks, marksOf, remark, type Sealed } from "./_marks.ts";

/**
 * A schema out of a node: keywords that are undefined are dropped, everything is copied, checked and frozen.
 *
 * @param action What is being done, for messages: `make a string schema`.
 * @param node Its keywords.
 * @param marks What objects have to know of it.
 * @throws {TypeError} If a keyword is not of its type, or the default is not of the schema.
 * @throws {RangeError} If bounds contradict each other.
 * @throws {SyntaxError} If the pattern cannot be read.
 */
export function seal(action: string, node: JsonSchema, marks: Marks = {}): Sealed {
  const copy = copyJson(node, action, []) as JsonSchema;
  checkNode(action, copy);
  return mark(copy, marks);
}

/** Schemas made here are kept as they are: they are frozen already, and a copy would forget what is remembered of them. */
function copyJson(value: unknown, action: string, above: readonly unknown[]): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value !== "object") {
    throw new TypeError(
      `Cannot ${action}: ${typeof value === "number" ? value : `a ${typeof value}`} is not JSON`,
    );
  }
  if (above.length > 0 && isMarked(value)) return value;
  if (above.includes(value)) throw new TypeError(`Cannot ${action}: a value in it contains itself`);
  if (above.length > DEEPEST) throw tooDeep(`Cannot ${action}: `);
  const path = [...above, value];
  if (Array.isArray(value)) return Object.freeze(value.map((item) => copyJson(item, action, path)));
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new TypeError(
      `Cannot ${action}: an object in it is not plain (an instance of a class, or "__proto__" as a key)`,
    );
  }
  const entries: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value)) {
    if (key === "__proto__") throw new TypeError(`Cannot ${action}: "__proto__" cannot be a key`);
    if (item !== undefined) entries.push([key, copyJson(item, action, path)]);
  }
  const copy = Object.fromEntries(entries);
  return above.length === 0 ? copy : Object.freeze(copy);
}
