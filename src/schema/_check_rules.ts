/** What of a CEL rule can be checked before the schema around it is known. */
import { isObject } from "../base/json.ts";
import type { ValidationReason, ValidationRule } from "./json_schema.ts";

// All of them: the compiler sees to it.
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
 * Checks a node's rules. Whether they compile is seen when the kind is made.
 *
 * @param cannot What the message begins with: `Cannot make a string schema: `.
 * @param rules The rules, if there are any.
 * @throws {TypeError} If a rule lacks its text, or has what no rule has.
 */
export function checkRules(cannot: string, rules: unknown): void {
  if (rules === undefined) return;
  if (!Array.isArray(rules)) throw new TypeError(`${cannot}"validations" must be a list of rules`);
  for (const [i, rule] of rules.entries()) checkRule(`${cannot}validations[${i}]`, rule);
}

function checkRule(here: string, rule: unknown): void {
  if (!isObject(rule)) throw new TypeError(`${here} must be an object such as { rule: "self > 0" }`);
  for (const [key, value] of Object.entries(rule)) {
    if (!Object.hasOwn(KEYS, key)) throw new TypeError(`${here}: a rule has no "${key}"`);
    const type = KEYS[key as keyof ValidationRule];
    // deno-lint-ignore valid-typeof
    if (typeof value !== type) {
      throw new TypeError(`${here}: "${key}" must be a ${type}: current value is ${JSON.stringify(value)}`);
    }
  }
  if (typeof rule.rule !== "string" || rule.rule.trim() === "") throw new TypeError(`${here}: "rule" must be said`);
  if (rule.reason === undefined || Object.hasOwn(REASONS, String(rule.reason))) return;
  const known = Object.keys(REASONS).map((reason) => `"${reason}"`).join(", ");
  throw new TypeError(`${here}: "reason" must be one of ${known}: current value is "${rule.reason}"`);
}
