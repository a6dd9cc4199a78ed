/**
 * Checks patterns and values in declared schemas as an API server does. Only
 * `_load_declaration_checks.ts` may import this module, with a top-level await; an import of
 * `_load_declaration_checks.ts` from here would deadlock.
 */
import type { JsonSchema } from "./json_schema.ts";
import { embeddedErrors } from "./embedded_errors.ts";
import { NO_FIELD } from "./keyword_errors.ts";
import { pruneFields } from "./prune.ts";
import { keywordErrorsAt, newListErrors } from "./validate.ts";

export { regularExpression } from "../cel/regular_expression.ts";

/**
 * Returns the first error of a value with an API server's message, or `undefined` if it is valid. A
 * default is validated without nested defaults, and unknown fields are errors, because the server
 * rejects an incomplete default and a default with unknown fields.
 */
export function valueError(schema: JsonSchema, key: "default" | "enum", value: unknown): string | undefined {
  const parent: JsonSchema = { type: "object", properties: { [key]: schema } };
  // Rules are compiled when the kind is defined.
  const [error] = [
    ...keywordErrorsAt("", parent, { [key]: value }),
    ...embeddedErrors(parent, { [key]: value }),
    ...newListErrors(parent, { [key]: value }, undefined),
  ];
  if (error !== undefined) {
    const text = error.message.replace(" in body ", " ");
    return error.field === NO_FIELD ? text : `${error.field}: ${text}`;
  }
  const [dropped] = pruneFields(parent, { [key]: value }).dropped;
  return dropped === undefined ? undefined : `${dropped}: unknown field`;
}
