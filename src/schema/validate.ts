/**
 * Validates a JSON value against a structural schema, with the results, paths and messages of an
 * API server (`k8s.io/apiextensions-apiserver/pkg/registry/customresource`): keywords first, then
 * embedded resources, then duplicates in sets and maps, and last the CEL rules, unless other errors
 * prevent their evaluation.
 */
import { Correlation } from "./correlation.ts";
import { embeddedErrors } from "./embedded_errors.ts";
import { type FieldError, type FieldErrorReason, invalid } from "./field_error.ts";
import type { JsonSchema } from "./json_schema.ts";
import { keywordErrors, NO_FIELD } from "./keyword_errors.ts";
import { listErrors } from "./list_errors.ts";
import { brokenRules } from "./rules/evaluate.ts";
import { ruleNode } from "./rules/rule_node.ts";

export { regularExpression } from "../cel/regular_expression.ts";

/** Options for {@linkcode validate}. */
export interface ValidateOptions {
  /**
   * The old value. Errors in unchanged parts are ignored (KEP-4008, ratcheting). Absent on create.
   */
  readonly old?: unknown;
  /** The prefix of all paths, such as `status`. */
  readonly path?: string;
  /**
   * Whether the value is a whole object, so that CEL rules may access `apiVersion`, `kind` and the
   * name. @default {false}
   */
  readonly isResource?: boolean;
  /** Receives ignored rule errors, which an API server reports as warnings. */
  readonly warn?: (error: FieldError) => void;
}

/**
 * Validates a value. The value is not pruned, and defaults are not applied first.
 *
 * @param schema The schema. It must not be modified later, because its CEL rules are compiled only
 * once.
 * @param value The value.
 * @param options Additional options.
 * @returns The errors; empty if it is valid.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const schema = {
 *   type: "object",
 *   properties: { replicas: { type: "integer", maximum: 20 } },
 * } as const;
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
  const errors = [
    ...keywordErrorsAt(path, schema, value, correlation),
    ...embeddedErrors(schema, value, path),
    ...newListErrors(schema, value, old, path),
  ];
  const rules = ruleErrorsUnlessBlocked(schema, value, errors, {
    isResource,
    path,
    old,
    ...(correlation && { correlation }),
    ...(warn && { warn }),
  });
  return [...errors, ...rules];
}

/**
 * Validates a value at a path against the keywords of its schema.
 *
 * @param path The path; empty for a whole object.
 * @param schema The schema.
 * @param value The value.
 * @param correlation The correlation with the old value.
 */
export function keywordErrorsAt(
  path: string,
  schema: JsonSchema,
  value: unknown,
  correlation?: Correlation,
): FieldError[] {
  const errors = keywordErrors(schema, value, correlation);
  if (path === "") return errors;
  return errors.map((error) => ({ ...error, field: error.field === NO_FIELD ? path : `${path}.${error.field}` }));
}

/**
 * Returns the duplicate items in lists. Lists that had duplicates before are ignored.
 *
 * @param schema The schema.
 * @param value The value.
 * @param old The old value; `undefined` on create.
 * @param path The path of the value.
 */
export function newListErrors(schema: JsonSchema, value: unknown, old: unknown, path = ""): FieldError[] {
  const errors = listErrors(schema, value, path);
  return errors.length > 0 && old !== undefined && listErrors(schema, old).length > 0 ? [] : errors;
}

// After these errors, the value has the wrong type or is too large for rules.
const BLOCKING: ReadonlySet<FieldErrorReason> = new Set<FieldErrorReason>([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

/**
 * Evaluates the CEL rules on a value, or reports that they were not evaluated.
 *
 * @param schema The schema.
 * @param value The value.
 * @param errors Other errors of the value.
 * @param options Options of {@linkcode brokenRules}.
 */
export function ruleErrorsUnlessBlocked(
  schema: JsonSchema,
  value: unknown,
  errors: readonly FieldError[],
  options: Parameters<typeof brokenRules>[2] & object,
): FieldError[] {
  if (!errors.some(({ reason }) => BLOCKING.has(reason))) return brokenRules(schema, value, options);
  if (ruleNode(schema, options.isResource ?? false) === undefined) return [];
  const detail = "some validation rules were not checked because the object was invalid; " +
    "correct the existing errors to complete validation";
  return [invalid(NO_FIELD, null, detail)];
}
