/**
 * Validates patterns and values in schemas as an API server does. Only `_judge.ts` may import this
 * module, with a top-level await; an import of `_judge.ts` from here would deadlock.
 */
import type { JsonSchema } from "./json_schema.ts";
import { embeddedFaults } from "./embedded_faults.ts";
import { NOWHERE } from "./keyword_faults.ts";
import { pruneFields } from "./prune.ts";
import { keywordFaultsAt, newListFaults } from "./validate.ts";

export { regularExpression } from "../cel/regular_expression.ts";

/**
 * Returns what is wrong with a value in an API server's words, or `undefined`. A default is
 * validated without filling in nested defaults: the server would fill them in, but rejects a
 * default that is incomplete otherwise or has unknown fields.
 */
export function valueFault(schema: JsonSchema, key: "default" | "enum", value: unknown): string | undefined {
  const around: JsonSchema = { type: "object", properties: { [key]: schema } };
  // Rules are compiled when the kind is defined.
  const [fault] = [
    ...keywordFaultsAt("", around, { [key]: value }),
    ...embeddedFaults(around, { [key]: value }),
    ...newListFaults(around, { [key]: value }, undefined),
  ];
  if (fault !== undefined) {
    const text = fault.message.replace(" in body ", " ");
    return fault.field === NOWHERE ? text : `${fault.field}: ${text}`;
  }
  const [dropped] = pruneFields(around, { [key]: value }).dropped;
  return dropped === undefined ? undefined : `${dropped}: unknown field`;
}
