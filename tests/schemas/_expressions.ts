/**
 * Kinds for tables of expressions: each expression becomes a rule that always fails, with the
 * result of the expression as its message.
 */
import type { JsonSchema, ValidationRule } from "../../src/schema/json_schema.ts";
import { type ExpressionTable, PLAYGROUND } from "./rules/mod.ts";
import type { RejectedRule } from "./rules/rejected.ts";
import type { Definition } from "./_servers.ts";

/** Returns the kind of a table. */
export function expressionKind({ library, expressions }: ExpressionTable): Definition {
  const kind = `Expr${library.replaceAll(/[^a-z]/g, "")}`;
  const spec: JsonSchema = { ...PLAYGROUND, "x-kubernetes-validations": expressions.map(resultRule) };
  return { group: "rules.example.com", kind, versions: { v1: { type: "object", properties: { spec } } } };
}

/**
 * Returns a rule that always fails. Its message is the result of the expression; if the expression
 * fails, the server reports that error.
 *
 * @param expression An expression of any type that `%s` can format.
 * @param index Its number, which makes messages unique.
 */
export function resultRule(expression: string, index: number): ValidationRule {
  const result = `'#${index} = %s'.format([${expression}])`;
  return { rule: `${result} == ''`, messageExpression: result };
}

const unboundedText = { type: "string" } as const;
const boundedText = { type: "string", maxLength: 16 } as const;

/**
 * Returns a kind with one rule on the playground.
 *
 * @param rule The rule and its position.
 * @param index Its number.
 */
export function rejectedKind({ at = "spec", ...rule }: RejectedRule, index: number): Definition {
  const rules = { "x-kubernetes-validations": [rule] };
  const rulesAt = (position: RejectedRule["at"]) => at === position ? rules : {};
  const schema: JsonSchema = {
    type: "object",
    properties: {
      spec: { ...PLAYGROUND, ...rulesAt("spec") },
      text: { ...boundedText, ...rulesAt("text") },
      list: { type: "array", maxItems: 4, items: { ...boundedText, ...rulesAt("item") } },
      set: {
        type: "array",
        maxItems: 4,
        "x-kubernetes-list-type": "set",
        items: { ...boundedText, ...rulesAt("set item") },
      },
      map: { type: "object", maxProperties: 4, additionalProperties: { type: "integer", ...rulesAt("value") } },
      unbounded: { type: "array", items: unboundedText, ...rulesAt("unbounded") },
    },
    ...rulesAt("root"),
  };
  return { group: "rejected.example.com", kind: `Rejected${index}`, versions: { v1: schema } };
}
