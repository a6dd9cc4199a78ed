/**
 * Metadata of schemas that is not part of their JSON. It is separate from the builders, so that
 * generated schemas do not load the validation.
 */
import type { JsonSchema } from "./json_schema.ts";
import type { Schema } from "./schema.ts";

/** Properties of a schema that its JSON does not contain. The enclosing object schema uses them. */
export interface Marks {
  /** Whether the property may be omitted. */
  readonly optional?: boolean;
  /** Whether the property may be added or removed after creation: see `s.immutable`. */
  readonly immutable?: "as created" | "once set";
}

// A non-enumerable property: the JSON stays exactly what the server receives, and an object schema
// can still read the marks of its properties.
const MARKS: unique symbol = Symbol("schema");

// Unlike the marks, this is not copied to a changed schema, because the change was not validated.
const KNOWN_VALID: unique symbol = Symbol("known valid");

/** A schema of any type. The signatures of the builders declare the exact types. */
export type Sealed = Schema<never, never, never>;

/** Returns the marks of a schema; an empty object if it is not from a builder. */
export function marksOf(schema: JsonSchema): Marks {
  return (schema as { [MARKS]?: Marks })[MARKS] ?? {};
}

/** Returns whether a value is a schema from a builder. Such schemas are deeply frozen. */
export function isMarked(value: object): boolean {
  return MARKS in value;
}

/** Freezes a schema and sets its marks. Nested values must be frozen already. */
export function mark(schema: JsonSchema, marks: Marks): Sealed {
  return Object.freeze(Object.defineProperty(schema, MARKS, { value: marks })) as Sealed;
}

/** Returns a copy of a schema with other marks. */
export function withMarks(schema: JsonSchema, marks: Marks): Sealed {
  return mark({ ...schema }, marks);
}

/**
 * Marks a schema that an API server is known to accept and to return unchanged. It is not validated
 * again when a kind uses it.
 *
 * @param schema The schema, deeply frozen.
 */
export function markKnownValid(schema: JsonSchema): Sealed {
  return mark(Object.defineProperty({ ...schema }, KNOWN_VALID, { value: true }), {});
}

/** Returns whether a schema was marked by {@linkcode markKnownValid}; copies were not. */
export function isKnownValid(schema: object): boolean {
  return KNOWN_VALID in schema;
}
