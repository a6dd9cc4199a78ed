/**
 * Checks patterns and values in declared schemas as an API server does. Only
 * `_load_declaration_checks.ts` may import this module, with a top-level await; an import of
 * `_load_declaration_checks.ts` from here would deadlock.
 */
import type { JsonSchema } from "./json_schema.ts";
import { embeddedFaults } from "./embedded_faults.ts";
import { NO_FIELD } from "./keyword_faults.ts";
import { pruneFields } from "./prune.ts";
import { keywordFaultsAt, newListFaults } from "./validate.ts";

export { regularExpression } from "../cel/regular_expression.ts";

/**
 * Returns the first error of a value with an API server's message, or `undefined` if it is valid. A
 * default is validated without nested defaults, and unknown fields are errors, because the server
 * rejects an incomplete default and a default with unknown fields.
 */
export function valueFault(schema: JsonSchema, key: "default" | "enum", value: unknown): string | undefined {
  const parent: JsonSchema = { type: "object", properties: { [key]: schema } };
  // Rules are compiled when the kind is defined.
  const [fault] = [
    ...keywordFaultsAt("", parent, { [key]: value }),
    ...embeddedFaults(parent, { [key]: value }),
    ...newListFaults(parent, { [key]: value }, undefined),
  ];
  if (fault !== undefined) {
    const text = fault.message.replace(" in body ", " ");
    return fault.field === NO_FIELD ? text : `${fault.field}: ${text}`;
  }
  const [dropped] = pruneFields(parent, { [key]: value }).dropped;
  return dropped === undefined ? undefined : `${dropped}: unknown field`;
}
