/** Validates the fields of CEL rules. The expressions are compiled when the schema is complete. */
import { isObject } from "../base/json.ts";
import type { ValidationReason, ValidationRule } from "./json_schema.ts";

// The type makes the compiler report missing keys.
const KEYS: { readonly [Key in keyof Required<ValidationRule>]: "string" | "boolean" } = {
  rule: "string",
  message: "string",
  messageExpression: "string",
  reason: "string",
  fieldPath: "string",
  optionalOldSelf: "boolean",
};

const REASONS: { readonly [Reason in ValidationReason]: true } = {
  FieldValueInvalid: true,
  FieldValueForbidden: true,
  FieldValueRequired: true,
  FieldValueDuplicate: true,
};

/**
 * Validates the rules of a node. They are compiled later, when the kind is defined.
 *
 * @param prefix The prefix of the message: `Cannot define a string schema: `.
 * @param rules The rules, if any.
 * @throws {TypeError} If a rule has no expression, or an unknown field.
 */
export function checkRules(prefix: string, rules: unknown): void {
  if (rules === undefined) return;
  if (!Array.isArray(rules)) throw new TypeError(`${prefix}"validations" must be a list of rules`);
  for (const [i, rule] of rules.entries()) checkRule(`${prefix}validations[${i}]`, rule);
}

function checkRule(position: string, rule: unknown): void {
  if (!isObject(rule)) throw new TypeError(`${position} must be an object such as { rule: "self > 0" }`);
  for (const [key, value] of Object.entries(rule)) {
    if (!Object.hasOwn(KEYS, key)) throw new TypeError(`${position}: unknown field "${key}"`);
    const type = KEYS[key as keyof ValidationRule];
    // deno-lint-ignore valid-typeof
    if (typeof value !== type) {
      throw new TypeError(`${position}: "${key}" must be a ${type}, got ${JSON.stringify(value)}`);
    }
  }
  if (typeof rule.rule !== "string" || rule.rule.trim() === "") {
    throw new TypeError(`${position}: "rule" must be a CEL expression`);
  }
  if (rule.reason === undefined || Object.hasOwn(REASONS, String(rule.reason))) return;
  const known = Object.keys(REASONS).map((reason) => `"${reason}"`).join(", ");
  throw new TypeError(`${position}: "reason" must be one of ${known}, got "${rule.reason}"`);
}
