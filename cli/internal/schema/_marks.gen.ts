// Made by tools/cli_internal.ts from src/schema/_marks.ts: do not edit.
import type { JsonSchema } from "@op/sdk/resource";
import type { Schema } from "@op/sdk/resource";

export interface Marks {
  readonly optional?: boolean;
  readonly immutable?: "as created" | "once set";
}

const MARKS: unique symbol = Symbol("schema");

const KNOWN_VALID: unique symbol = Symbol("known valid");

export type Sealed = Schema<never, never, never>;

export function marksOf(schema: JsonSchema): Marks {
  return (schema as { [MARKS]?: Marks })[MARKS] ?? {};
}

export function isMarked(value: object): boolean {
  return MARKS in value;
}

export function mark(schema: JsonSchema, marks: Marks): Sealed {
  return Object.freeze(Object.defineProperty(schema, MARKS, { value: marks })) as Sealed;
}

export function withMarks(schema: JsonSchema, marks: Marks): Sealed {
  return mark({ ...schema }, marks);
}

export function markKnownValid(schema: JsonSchema): Sealed {
  return mark(Object.defineProperty({ ...schema }, KNOWN_VALID, { value: true }), {});
}

export function isKnownValid(schema: object): boolean {
  return KNOWN_VALID in schema;
}
