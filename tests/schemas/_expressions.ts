/**
 * Kinds for tables of expressions: each expression becomes a rule that always fails, with the
 * result of the expression as its message.
 */
import type { JsonSchema, ValidationRule } from "../../src/schema/json_schema.ts";
import { type ExpressionTable, PLAYGROUND } from "./rules/mod.ts";
import type { RefusedRule } from "./rules/refusals.ts";
import type { Definition } from "./_servers.ts";

/** Returns the kind of a table. */
export function expressionKind({ library, expressions }: ExpressionTable): Definition {
  const kind = `Expr${library.replaceAll(/[^a-z]/g, "")}`;
  const spec: JsonSchema = { ...PLAYGROUND, "x-kubernetes-validations": expressions.map(tellingRule) };
  return { group: "rules.example.com", kind, versions: { v1: { type: "object", properties: { spec } } } };
}

/**
 * Returns a rule that always fails. Its message is the result of the expression; if the expression
 * fails, the server reports that error.
 *
 * @param expression An expression of any type that `%s` can format.
 * @param index Its number, which makes messages unique.
 */
export function tellingRule(expression: string, index: number): ValidationRule {
  const telling = `'#${index} = %s'.format([${expression}])`;
  return { rule: `${telling} == ''`, messageExpression: telling };
}

const anything = { type: "string" } as const;
const bounded = { type: "string", maxLength: 16 } as const;

/**
 * Returns a kind with one rule on the playground.
 *
 * @param rule The rule and its position.
 * @param index Its number.
 */
export function refusedKind({ at = "spec", ...rule }: RefusedRule, index: number): Definition {
  const rules = { "x-kubernetes-validations": [rule] };
  const on = (place: RefusedRule["at"]) => at === place ? rules : {};
  const schema: JsonSchema = {
    type: "object",
    properties: {
      spec: { ...PLAYGROUND, ...on("spec") },
      text: { ...bounded, ...on("text") },
      list: { type: "array", maxItems: 4, items: { ...bounded, ...on("item") } },
      set: { type: "array", maxItems: 4, "x-kubernetes-list-type": "set", items: { ...bounded, ...on("set item") } },
      map: { type: "object", maxProperties: 4, additionalProperties: { type: "integer", ...on("value") } },
      unbounded: { type: "array", items: anything, ...on("unbounded") },
    },
    ...on("root"),
  };
  return { group: "refused.example.com", kind: `Refused${index}`, versions: { v1: schema } };
}
