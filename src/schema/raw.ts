/** JSON Schema as it is written elsewhere. */
import { checkTree } from "./_check.ts";
import { seal } from "./_seal.ts";
import type { JsonSchema } from "./json_schema.ts";
import type { Schema } from "./schema.ts";

/**
 * A schema out of JSON Schema: the last resort, where no builder says what is meant. Its types are what you say they are.
 *
 * @typeParam Read The value as read.
 * @typeParam Written The value as written.
 * @param schema The keywords. A node that an API server would not read, at whatever depth, is refused.
 * @throws {TypeError} If a keyword is not of its type, or the default is not of the schema.
 * @throws {SyntaxError} If a pattern is not one of RE2.
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
/** The same without a default: where nothing stands, nothing is filled in. */
export function raw<Read = unknown, Written = Read>(schema: JsonSchema): Schema<Read, Written, "required">;
export function raw(schema: JsonSchema): Schema {
  checkTree("make a raw schema", schema);
  return seal("make a raw schema", schema);
}
