/**
 * Recognizes objects of which exactly one, at most one or at least one of some properties may be
 * set, in the forms that builders such as `s.exactlyOneOf` produce.
 */
import type { JsonSchema } from "@op/sdk/resource";
import { requiredEach } from "./normal_form.ts";

/** A schema as the result of a builder that wraps another schema. */
export interface Alternatives {
  /** The builder. */
  readonly callee: "s.exactlyOneOf" | "s.atMostOneOf" | "s.atLeastOneOf";
  readonly names: readonly string[];
  /** Whether the builder writes a CEL rule or keywords of JSON Schema. */
  readonly as: "rule" | "schema";
  /** The wrapped schema. */
  readonly inner: JsonSchema;
}

/**
 * Returns the calls of `s.exactlyOneOf` and similar builders that may produce a schema. They are
 * candidates: the caller must evaluate them and compare the result.
 *
 * @param schema The schema of an object.
 */
export function alternativesOf(schema: JsonSchema): Alternatives[] {
  if (schema.properties === undefined) return [];
  return [...fromRule(schema), ...fromKeywords(schema), ...fromLastAllOf(schema)];
}

const RULE = /^\[(has\(self\.\w+\)(?:,has\(self\.\w+\))+)\]\.filter\(x,x==true\)\.size\(\) ([=<>]=) 1$/;
const CALLEES = { "==": "s.exactlyOneOf", "<=": "s.atMostOneOf", ">=": "s.atLeastOneOf" } as const;

function fromRule(schema: JsonSchema): Alternatives[] {
  const { "x-kubernetes-validations": rules = [], ...rest } = schema;
  const last = rules.at(-1);
  const [, each, comparison] = RULE.exec(last?.rule ?? "") ?? [];
  if (each === undefined) return [];
  const names = [...each.matchAll(/self\.(\w+)/g)].map(([, name]) => name!);
  const remaining = rules.slice(0, -1);
  return [{
    callee: CALLEES[comparison as keyof typeof CALLEES],
    names,
    as: "rule",
    inner: remaining.length === 0 ? rest : { ...rest, "x-kubernetes-validations": remaining },
  }];
}

function fromKeywords(schema: JsonSchema): Alternatives[] {
  const { oneOf, anyOf, not, ...rest } = schema;
  const found: Alternatives[] = [];
  const inner = (remaining: JsonSchema) => ({ ...rest, ...remaining });
  const others = {
    ...(oneOf !== undefined && { oneOf }),
    ...(anyOf !== undefined && { anyOf }),
    ...(not !== undefined && { not }),
  };
  for (const constraint of constraintsIn({ ...others })) {
    const { [constraint.keyword]: _, ...remaining } = others;
    found.push({ callee: constraint.callee, names: constraint.names, as: "schema", inner: inner(remaining) });
  }
  return found;
}

/**
 * Recognizes a constraint in the last entry of `allOf`. Builders write it there if the schema
 * already has the keyword.
 */
function fromLastAllOf(schema: JsonSchema): Alternatives[] {
  const { allOf = [], ...rest } = schema;
  const last = allOf.at(-1);
  if (last === undefined || Object.keys(last).length !== 1) return [];
  const remaining = allOf.slice(0, -1);
  const inner = remaining.length === 0 ? rest : { ...rest, allOf: remaining };
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
