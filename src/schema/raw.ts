/** Handwritten JSON Schema. */
import { checkTree } from "./_check.ts";
import { seal } from "./_seal.ts";
import type { JsonSchema } from "./json_schema.ts";
import type { Schema } from "./schema.ts";

/**
 * Builds a schema from JSON Schema. Use it only if no builder fits. You declare its types
 * yourself.
 *
 * @typeParam Read The value as read.
 * @typeParam Written The value as written.
 * @param schema The keywords. Keywords that an API server would reject, at any depth, throw an
 * error.
 * @throws {TypeError} If a keyword has the wrong type, or the default does not match the schema.
 * @throws {SyntaxError} If a pattern is not a valid RE2 expression.
 *
 * @example Usage
 * ```ts
 * import { s } from "@op/sdk";
 *
 * const even = s.raw<number>({ type: "integer", multipleOf: 2, not: { enum: [0] } });
 * ```
 */
export function raw<Read = unknown, Written = Read>(
  schema: JsonSchema & { readonly default: unknown },
): Schema<Read, Written, "defaulted">;
/** Builds a schema without a default. */
export function raw<Read = unknown, Written = Read>(schema: JsonSchema): Schema<Read, Written, "required">;
export function raw(schema: JsonSchema): Schema {
  checkTree("define a raw schema", schema);
  return seal("define a raw schema", schema);
}
