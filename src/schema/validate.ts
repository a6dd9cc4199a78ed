/**
 * Validation of a JSON value against a structural schema, with the verdicts, paths and words of an API server
 * (`k8s.io/apiextensions-apiserver/pkg/registry/customresource`): keywords first, then embedded resources, then lists that are sets or maps, and last the
 * CEL rules, unless the value is too far off to ask them.
 */
import { Correlation } from "./correlation.ts";
import { embeddedFaults } from "./embedded_faults.ts";
import { type FieldError, type FieldErrorReason, invalid } from "./field_error.ts";
import type { JsonSchema } from "./json_schema.ts";
import { keywordFaults, NOWHERE } from "./keyword_faults.ts";
import { listFaults } from "./list_faults.ts";
import { brokenRules } from "./rules/evaluate.ts";
import { ruleNode } from "./rules/rule_node.ts";

export { regularExpression } from "../cel/regular_expression.ts";

/** Options for {@linkcode validate}. */
export interface ValidateOptions {
  /** The value that is there now: faults in parts that do not change are let pass (KEP-4008, ratcheting). Absent on create. */
  readonly old?: unknown;
  /** What all paths begin with, such as `status`. */
  readonly path?: string;
  /** Whether the value is a whole object, of which CEL rules know `apiVersion`, `kind` and the name. @default {false} */
  readonly isResource?: boolean;
  /** Takes the broken rules that were let pass, of which an API server warns. */
  readonly warn?: (fault: FieldError) => void;
}

/**
 * Validates a value as it stands: nothing is filled in or dropped before.
 *
 * @param schema The schema; it must not change afterwards, since its CEL rules are compiled only once.
 * @param value The value.
 * @param options Additional options.
 * @returns What is wrong with it; empty when it is valid.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const schema = { type: "object", properties: { replicas: { type: "integer", maximum: 20 } } } as const;
 * assert.deepEqual(validate(schema, { replicas: 21 }), [{
 *   reason: "FieldValueInvalid",
 *   field: "replicas",
 *   message: "Invalid value: 21: replicas in body should be less than or equal to 20",
 * }]);
 * ```
 */
export function validate(schema: JsonSchema, value: unknown, options: ValidateOptions = {}): FieldError[] {
  const { old, path = "", isResource = false, warn } = options;
  const correlation = old === undefined ? undefined : new Correlation(schema, value, old);
  const faults = [
    ...keywordFaultsAt(path, schema, value, correlation),
    ...embeddedFaults(schema, value, path),
    ...newListFaults(schema, value, old, path),
  ];
  const rules = ruleFaultsUnlessBlocked(schema, value, faults, {
    isResource,
    path,
    old,
    ...(correlation && { correlation }),
    ...(warn && { warn }),
  });
  return [...faults, ...rules];
}

/**
 * What the keywords find wrong with a value that stands somewhere.
 *
 * @param path Where; empty for the whole.
 * @param schema The schema.
 * @param value The value.
 * @param correlation The value and what it was.
 */
export function keywordFaultsAt(
  path: string,
  schema: JsonSchema,
  value: unknown,
  correlation?: Correlation,
): FieldError[] {
  const faults = keywordFaults(schema, value, correlation);
  if (path === "") return faults;
  return faults.map((fault) => ({ ...fault, field: fault.field === NOWHERE ? path : `${path}.${fault.field}` }));
}

/**
 * What is there twice in lists; nothing where something was before.
 *
 * @param schema The schema.
 * @param value The value.
 * @param old What it was; undefined when it is new.
 * @param path Where it stands.
 */
export function newListFaults(schema: JsonSchema, value: unknown, old: unknown, path = ""): FieldError[] {
  const faults = listFaults(schema, value, path);
  return faults.length > 0 && old !== undefined && listFaults(schema, old).length > 0 ? [] : faults;
}

// A value with one of these is not of its schema's type, or too large for rules to look at.
const BLOCKING: ReadonlySet<FieldErrorReason> = new Set<FieldErrorReason>([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

/**
 * What CEL rules find wrong with a value, or that they were not asked.
 *
 * @param schema The schema.
 * @param value The value.
 * @param faults What else is wrong with it.
 * @param options As for {@linkcode brokenRules}.
 */
export function ruleFaultsUnlessBlocked(
  schema: JsonSchema,
  value: unknown,
  faults: readonly FieldError[],
  options: Parameters<typeof brokenRules>[2] & object,
): FieldError[] {
  if (!faults.some(({ reason }) => BLOCKING.has(reason))) return brokenRules(schema, value, options);
  if (ruleNode(schema, options.isResource ?? false) === undefined) return [];
  const why = "some validation rules were not checked because the object was invalid; " +
    "correct the existing errors to complete validation";
  return [invalid(NOWHERE, null, why)];
}
