/** Tables of expressions as kinds: each expression is a rule that always fails and says in its message what the expression gave. */
import type { JsonSchema, ValidationRule } from "../../src/schema/json_schema.ts";
import { type ExpressionTable, PLAYGROUND } from "./rules/mod.ts";
import type { RefusedRule } from "./rules/refusals.ts";
import type { Definition } from "./_servers.ts";

/** The kind of a table. */
export function expressionKind({ library, expressions }: ExpressionTable): Definition {
  const kind = `Expr${library.replaceAll(/[^a-z]/g, "")}`;
  const spec: JsonSchema = { ...PLAYGROUND, "x-kubernetes-validations": expressions.map(tellingRule) };
  return { group: "rules.example.com", kind, versions: { v1: { type: "object", properties: { spec } } } };
}

/**
 * A rule that no value keeps to. What the expression gives is its message; where it gives nothing, the error is.
 *
 * @param expression Of any type that `%s` can print.
 * @param index Its number, so that no two messages are alike.
 */
export function tellingRule(expression: string, index: number): ValidationRule {
  const telling = `'#${index} = %s'.format([${expression}])`;
  return { rule: `${telling} == ''`, messageExpression: telling };
}

const anything = { type: "string" } as const;
const bounded = { type: "string", maxLength: 16 } as const;

/**
 * A kind with one rule, and the playground around it.
 *
 * @param rule The rule and where it stands.
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
