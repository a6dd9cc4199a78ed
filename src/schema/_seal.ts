/** How builders turn a node of JSON Schema into a schema: copied, checked, frozen, and what objects have to know of it remembered. */
import { checkNode } from "./_check.ts";
import type { JsonSchema } from "./json_schema.ts";
import type { Schema } from "./schema.ts";

/** What an object has to know of a property that the property's JSON does not say. */
export interface Marks {
  /** Whether the property may be left out. */
  readonly optional?: boolean;
  /** Whether it may be put in or taken away after the object was made: see `s.immutable`. */
  readonly immutable?: "as created" | "once set";
}

// On the value, but neither enumerable nor JSON: a schema stays exactly what the server is sent, and an object that takes it as a
// property still knows whether it may be left out.
const MARKS: unique symbol = Symbol("schema");

/** What was remembered of a schema; nothing of one that no builder made. */
export function marksOf(schema: JsonSchema): Marks {
  return (schema as { [MARKS]?: Marks })[MARKS] ?? {};
}

/** Of every type: builders say in their signatures which it is. */
export type Sealed = Schema<never, never, never>;

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

/** The same schema with other marks. */
export function remark(schema: JsonSchema, marks: Marks): Sealed {
  return mark({ ...schema }, marks);
}

function mark(schema: JsonSchema, marks: Marks): Sealed {
  return Object.freeze(Object.defineProperty(schema, MARKS, { value: marks })) as Sealed;
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
  if (above.length > 0 && MARKS in value) return value;
  if (above.includes(value)) throw new TypeError(`Cannot ${action}: a value in it contains itself`);
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
