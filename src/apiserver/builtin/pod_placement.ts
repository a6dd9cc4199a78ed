/**
 * Validation of changes of node selection, which may be narrowed while a pod has scheduling gates
 * (`k8s.io/kubernetes/pkg/apis/core/validation`).
 */
import { equal } from "../../base/json.ts";
import { type FieldError, invalid } from "../../schema/field_error.ts";
import { type Fields, fields, items } from "./_parts.ts";

/**
 * Returns the errors of a change of node selection in a pod with scheduling gates.
 *
 * @param next The new spec.
 * @param before The old spec.
 */
export function placementErrors(next: Fields, before: Fields): FieldError[] {
  return [...selectorErrors(next, before), ...affinityErrors(next, before)];
}

function selectorErrors(next: Fields, before: Fields): FieldError[] {
  const wanted = fields(next.nodeSelector);
  const isKept = Object.entries(fields(before.nodeSelector)).every(([key, value]) => wanted[key] === value);
  if (isKept) return [];
  const reason = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
  return [invalid("spec.nodeSelector", next.nodeSelector ?? null, reason)];
}

function affinityErrors(next: Fields, before: Fields): FieldError[] {
  const field = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
  const [wanted, terms] = [termsOf(next), termsOf(before)];
  if (terms.length === 0 || equal(wanted, terms)) return [];
  if (wanted.length !== terms.length) {
    const reason = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
    return [invalid(field, wanted.length === 0 ? null : wanted.map(goTerm), reason)];
  }
  return terms.flatMap((term, i) => {
    const now = wanted[i] ?? {};
    const reason = "only additions are allowed (no mutations or deletions)";
    return onlyAdds(now, term) ? [] : [invalid(`${field}[${i}]`, goTerm(now), reason)];
  });
}

function termsOf({ affinity }: Fields): readonly Fields[] {
  const required = fields(fields(fields(affinity).nodeAffinity).requiredDuringSchedulingIgnoredDuringExecution);
  return items(required.nodeSelectorTerms);
}

function onlyAdds(next: Fields, before: Fields): boolean {
  const keys = ["matchExpressions", "matchFields"] as const;
  if (keys.every((key) => items(before[key]).length === 0)) return keys.every((key) => items(next[key]).length === 0);
  return keys.every((key) => equal(items(next[key]).slice(0, items(before[key]).length), items(before[key])));
}

/** Returns a term in the form of Go's internal types, whose fields have no JSON names. */
function goTerm(term: Fields): Fields {
  const requirement = ({ key, operator, values = null }: Fields) => ({ Key: key, Operator: operator, Values: values });
  const all = (requirements: unknown) => requirements === undefined ? null : items(requirements).map(requirement);
  return { MatchExpressions: all(term.matchExpressions), MatchFields: all(term.matchFields) };
}

/**
 * Returns a spec without its node selector and node affinity, but with its affinity to other pods.
 *
 * @param spec The spec.
 */
export function withoutPlacement(spec: Fields): Fields {
  const { nodeSelector: _n, affinity, ...rest } = spec;
  const { nodeAffinity: _, ...affinities } = fields(affinity);
  return Object.keys(affinities).length > 0 ? { ...rest, affinity: affinities } : rest;
}
