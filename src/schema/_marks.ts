/** What is remembered of a schema beside its JSON. Apart from the builders, so that generated schemas bring no checks along. */
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

// As the marks, but lost with every copy: what a copy changed nobody has looked at.
const SOUND: unique symbol = Symbol("sound");

/** Of every type: builders say in their signatures which it is. */
export type Sealed = Schema<never, never, never>;

/** What was remembered of a schema; nothing of one that no builder made. */
export function marksOf(schema: JsonSchema): Marks {
  return (schema as { [MARKS]?: Marks })[MARKS] ?? {};
}

/** Whether a value is a schema that was made here: frozen, with all that is in it. */
export function isMarked(value: object): boolean {
  return MARKS in value;
}

/** Freezes a schema and remembers something of it. What is in it must be frozen already. */
export function mark(schema: JsonSchema, marks: Marks): Sealed {
  return Object.freeze(Object.defineProperty(schema, MARKS, { value: marks })) as Sealed;
}

/** The same schema with other marks. */
export function remark(schema: JsonSchema, marks: Marks): Sealed {
  return mark({ ...schema }, marks);
}

/**
 * A schema of which an API server was seen to take all, and to answer it as it is: it is not looked at again whenever a kind is made of it.
 *
 * @param schema The schema, frozen with all that is in it.
 */
export function sound(schema: JsonSchema): Sealed {
  return mark(Object.defineProperty({ ...schema }, SOUND, { value: true }), {});
}

/** Whether a schema is one of {@linkcode sound}: as it was made, not a copy. */
export function isSound(schema: object): boolean {
  return SOUND in schema;
}
