/**
 * Recognizes objects whose properties exclude or require each other, in the forms that builders
 * such as `s.exactlyOneOf` produce.
 */
import type { JsonSchema } from "@op/sdk/resource";
import { requiredEach } from "./normal_form.ts";

/** A schema as the result of a builder that wraps another schema. */
export interface Alternatives {
  /** The builder. */
  readonly callee: "s.exactlyOneOf" | "s.atMostOneOf" | "s.atLeastOneOf";
  readonly names: readonly string[];
  /** Whether the builder uses a CEL rule or keywords of JSON Schema. */
  readonly as: "rule" | "schema";
  /** The wrapped schema. */
  readonly inner: JsonSchema;
}

/**
 * Returns the ways in which `s.exactlyOneOf` and similar builders may have produced a schema. They
 * are candidates: the caller evaluates and compares them.
 *
 * @param schema The schema of an object.
 */
export function alternativesOf(schema: JsonSchema): Alternatives[] {
  if (schema.properties === undefined) return [];
  return [...byRule(schema), ...bySchema(schema), ...byLastOfAll(schema)];
}

const RULE = /^\[(has\(self\.\w+\)(?:,has\(self\.\w+\))+)\]\.filter\(x,x==true\)\.size\(\) ([=<>]=) 1$/;
const BY_COMPARISON = { "==": "s.exactlyOneOf", "<=": "s.atMostOneOf", ">=": "s.atLeastOneOf" } as const;

function byRule(schema: JsonSchema): Alternatives[] {
  const { "x-kubernetes-validations": rules = [], ...rest } = schema;
  const last = rules.at(-1);
  const [, each, comparison] = RULE.exec(last?.rule ?? "") ?? [];
  if (each === undefined) return [];
  const names = [...each.matchAll(/self\.(\w+)/g)].map(([, name]) => name!);
  const left = rules.slice(0, -1);
  return [{
    callee: BY_COMPARISON[comparison as keyof typeof BY_COMPARISON],
    names,
    as: "rule",
    inner: left.length === 0 ? rest : { ...rest, "x-kubernetes-validations": left },
  }];
}

function bySchema(schema: JsonSchema): Alternatives[] {
  const { oneOf, anyOf, not, ...rest } = schema;
  const found: Alternatives[] = [];
  const inner = (left: JsonSchema) => ({ ...rest, ...left });
  const others = {
    ...(oneOf !== undefined && { oneOf }),
    ...(anyOf !== undefined && { anyOf }),
    ...(not !== undefined && { not }),
  };
  for (const constraint of constraintsIn({ ...others })) {
    const { [constraint.keyword]: _, ...left } = others;
    found.push({ callee: constraint.callee, names: constraint.names, as: "schema", inner: inner(left) });
  }
  return found;
}

/**
 * Recognizes a constraint in the last entry of `allOf`, which builders use if its keyword exists
 * already.
 */
function byLastOfAll(schema: JsonSchema): Alternatives[] {
  const { allOf = [], ...rest } = schema;
  const last = allOf.at(-1);
  if (last === undefined || Object.keys(last).length !== 1) return [];
  const left = allOf.slice(0, -1);
  const inner = left.length === 0 ? rest : { ...rest, allOf: left };
  return constraintsIn(last).map(({ callee, names }) => ({ callee, names, as: "schema", inner }));
}

interface Constraint {
  readonly callee: Alternatives["callee"];
  readonly keyword: "oneOf" | "anyOf" | "not";
  readonly names: readonly string[];
}

function constraintsIn({ oneOf, anyOf, not }: JsonSchema): Constraint[] {
  const found: Constraint[] = [];
  const one = oneOf && requiredEach(oneOf);
  if (one !== undefined) found.push({ callee: "s.exactlyOneOf", keyword: "oneOf", names: one });
  const none = oneOf?.filter((choice) => choice.not === undefined) ?? [];
  const each = none.length === oneOf?.length ? undefined : requiredEach(none);
  if (each !== undefined) found.push({ callee: "s.atMostOneOf", keyword: "oneOf", names: each });
  const any = anyOf && requiredEach(anyOf);
  if (any !== undefined) found.push({ callee: "s.atLeastOneOf", keyword: "anyOf", names: any });
  const pairs = not && (not.anyOf ?? [not]).map(({ required = [] }) => required);
  if (pairs?.every((pair) => pair.length === 2)) {
    found.push({ callee: "s.atMostOneOf", keyword: "not", names: [...new Set(pairs.flat())] });
  }
  return found.filter(({ names }) => names.length > 1);
}
