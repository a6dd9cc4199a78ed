/** What chooses a pod's node: while gates hold the pod back, more may be asked of the node (`k8s.io/kubernetes/pkg/apis/core/validation`). */
import { equal, isObject } from "../../base/json.ts";
import { type FieldError, invalid } from "../../schema/field_error.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * What is wrong with the change of what chooses the node of a pod that is held back.
 *
 * @param next The spec that is wanted.
 * @param before The spec that is there.
 */
export function placementFaults(next: Fields, before: Fields): FieldError[] {
  return [...selectorFaults(next, before), ...affinityFaults(next, before)];
}

function selectorFaults(next: Fields, before: Fields): FieldError[] {
  const wanted = fields(next.nodeSelector);
  const isKept = Object.entries(fields(before.nodeSelector)).every(([key, value]) => wanted[key] === value);
  if (isKept) return [];
  const why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
  return [invalid("spec.nodeSelector", next.nodeSelector ?? null, why)];
}

function affinityFaults(next: Fields, before: Fields): FieldError[] {
  const field = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
  const [wanted, terms] = [termsOf(next), termsOf(before)];
  if (terms.length === 0 || equal(wanted, terms)) return [];
  if (wanted.length !== terms.length) {
    const why = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
    return [invalid(field, wanted.length === 0 ? null : wanted.map(inGo), why)];
  }
  return terms.flatMap((term, i) => {
    const now = wanted[i] ?? {};
    const why = "only additions are allowed (no mutations or deletions)";
    return onlyAdds(now, term) ? [] : [invalid(`${field}[${i}]`, inGo(now), why)];
  });
}

function termsOf({ affinity }: Fields): readonly Fields[] {
  const required = fields(fields(fields(affinity).nodeAffinity).requiredDuringSchedulingIgnoredDuringExecution);
  return list(required.nodeSelectorTerms);
}

function onlyAdds(next: Fields, before: Fields): boolean {
  const keys = ["matchExpressions", "matchFields"] as const;
  if (keys.every((key) => list(before[key]).length === 0)) return keys.every((key) => list(next[key]).length === 0);
  return keys.every((key) => equal(list(next[key]).slice(0, list(before[key]).length), list(before[key])));
}

/** A term as the server's own types print it, whose fields have no names for JSON. */
function inGo(term: Fields): Fields {
  const requirement = ({ key, operator, values = null }: Fields) => ({ Key: key, Operator: operator, Values: values });
  const all = (requirements: unknown) => requirements === undefined ? null : list(requirements).map(requirement);
  return { MatchExpressions: all(term.matchExpressions), MatchFields: all(term.matchFields) };
}

/**
 * A spec without what chooses the node, but for what other pods have to do with it.
 *
 * @param spec The spec.
 */
export function withoutPlacement(spec: Fields): Fields {
  const { nodeSelector: _n, affinity, ...rest } = spec;
  const { nodeAffinity: _, ...affinities } = fields(affinity);
  return Object.keys(affinities).length > 0 ? { ...rest, affinity: affinities } : rest;
}

function fields(value: unknown): Fields {
  return isObject(value) ? value : {};
}

function list(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value : [];
}
