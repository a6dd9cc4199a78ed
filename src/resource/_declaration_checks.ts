/**
 * Checks declared kinds and webhooks as an API server does, including CEL rules. Only
 * `_load_declaration_checks.ts` may import this module, with a top-level await; an import of
 * `_load_declaration_checks.ts` from here would deadlock.
 */
import type { JsonSchema } from "../schema/mod.ts";
import { schemaErrors } from "../schema/structural.ts";
import { rejectSchema } from "./_schema_error.ts";

export { matchConditionError } from "./_match_condition_error.ts";
export { validate } from "./validation.ts";

/**
 * Validates the schema of a kind.
 *
 * @param kind The kind.
 * @param schema Its schema.
 * @param hasStatus Whether it has a status subresource.
 * @throws {TypeError} If an API server would reject it.
 */
export function checkSchema(kind: string, schema: JsonSchema, hasStatus: boolean): void {
  const errors = schemaErrors(schema, "", { hasStatus });
  if (errors.length > 0) rejectSchema(kind, schema, errors);
}
