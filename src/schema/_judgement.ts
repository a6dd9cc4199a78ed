/**
 * What judges patterns and values in schemas as an API server does. It is loaded by `_judge.ts` alone, and must import nothing that imports that: each would
 * wait for the other.
 */
import type { JsonSchema } from "./json_schema.ts";
import { embeddedFaults } from "./embedded_faults.ts";
import { NOWHERE } from "./keyword_faults.ts";
import { pruneFields } from "./prune.ts";
import { keywordFaultsAt, newListFaults } from "./validate.ts";

export { regularExpression } from "../cel/regular_expression.ts";

/**
 * What is wrong with a value, or nothing, in the words of an API server. A default is looked at as it stands: the server fills in what has a
 * default below it, but refuses it when it is incomplete otherwise, or has fields that are not in the schema.
 */
export function valueFault(schema: JsonSchema, key: "default" | "enum", value: unknown): string | undefined {
  const around: JsonSchema = { type: "object", properties: { [key]: schema } };
  // Rules are asked when the kind is made: only then is it known whether they compile.
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
  return dropped === undefined ? undefined : `${dropped}: it is not in the schema`;
}
