/**
 * Metadata of schemas that is not part of their JSON. It is separate from the builders, so that
 * generated schemas do not load the validation.
 */
import type { JsonSchema } from "./json_schema.ts";
import type { Schema } from "./schema.ts";

/** What an object schema must know about a property beyond the property's JSON. */
export interface Marks {
  /** Whether the property may be omitted. */
  readonly optional?: boolean;
  /** Whether the property may be added or removed after creation: see `s.immutable`. */
  readonly immutable?: "as created" | "once set";
}

// A non-enumerable property: the JSON stays exactly what the server receives, and an object schema
// can still read the marks of its properties.
const MARKS: unique symbol = Symbol("schema");

// Like the marks, but not copied with them: a copy may have changes that were not validated.
const SOUND: unique symbol = Symbol("sound");

/** A schema of any type. The signatures of the builders declare the exact types. */
export type Sealed = Schema<never, never, never>;

/** Returns the marks of a schema; none if no builder built it. */
export function marksOf(schema: JsonSchema): Marks {
  return (schema as { [MARKS]?: Marks })[MARKS] ?? {};
}

/** Reports whether a value is a schema from a builder, and so deeply frozen. */
export function isMarked(value: object): boolean {
  return MARKS in value;
}

/** Freezes a schema and sets its marks. Nested values must be frozen already. */
export function mark(schema: JsonSchema, marks: Marks): Sealed {
  return Object.freeze(Object.defineProperty(schema, MARKS, { value: marks })) as Sealed;
}

/** Returns the same schema with other marks. */
export function remark(schema: JsonSchema, marks: Marks): Sealed {
  return mark({ ...schema }, marks);
}

/**
 * Marks a schema that an API server is known to accept and to return unchanged. It is not validated
 * again when a kind uses it.
 *
 * @param schema The schema, deeply frozen.
 */
export function sound(schema: JsonSchema): Sealed {
  return mark(Object.defineProperty({ ...schema }, SOUND, { value: true }), {});
}

/** Reports whether a schema was marked by {@linkcode sound}; copies were not. */
export function isSound(schema: object): boolean {
  return SOUND in schema;
}
