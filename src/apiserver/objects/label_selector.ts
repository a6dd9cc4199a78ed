/** Label selectors in specs (`k8s.io/apimachinery/pkg/apis/meta/v1`, `LabelSelectorAsSelector`). */
import { labelValueErrors, qualifiedNameErrors } from "../../base/name_rules.ts";
import { own } from "../../base/own.ts";
import { type FieldError, forbidden, invalid, required } from "../../schema/field_error.ts";

/** A LabelSelector of `meta.k8s.io/v1`. An empty one selects everything. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelRequirement[];
}

/** An entry of `matchExpressions`. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** Returns whether a selector matches labels. */
export function matchesSelector(selector: LabelSelector, labels: Readonly<Record<string, string>> = {}): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return Object.entries(matchLabels).every(([key, value]) => own(labels, key) === value) &&
    matchExpressions.every((requirement) => isSatisfied(requirement, labels));
}

function isSatisfied(
  { key, operator, values = [] }: LabelRequirement,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = own(labels, key);
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    default:
      return value === undefined;
  }
}

/** Returns the errors of a selector (`k8s.io/apimachinery/pkg/apis/meta/v1/validation`). */
export function selectorErrors({ matchLabels = {}, matchExpressions = [] }: LabelSelector, path: string): FieldError[] {
  const labelsPath = `${path}.matchLabels`;
  const ofLabels = Object.entries(matchLabels).flatMap(([key, value]) => [
    ...qualifiedNameErrors(key).map((reason) => invalid(labelsPath, key, reason)),
    ...labelValueErrors(value).map((reason) => invalid(labelsPath, value, reason)),
  ]);
  const ofExpressions = matchExpressions.flatMap((requirement, i) =>
    requirementErrors(requirement, `${path}.matchExpressions[${i}]`)
  );
  return [...ofLabels, ...ofExpressions];
}

function requirementErrors({ key = "", operator, values = [] }: LabelRequirement, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (operator === "In" || operator === "NotIn") {
    const reason = "must be specified when `operator` is 'In' or 'NotIn'";
    if (values.length === 0) errors.push(required(`${path}.values`, reason));
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    const reason = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    if (values.length > 0) errors.push(forbidden(`${path}.values`, reason));
  } else errors.push(invalid(`${path}.operator`, operator, "not a valid selector operator"));
  errors.push(...qualifiedNameErrors(key).map((reason) => invalid(`${path}.key`, key, reason)));
  values.forEach((value, i) => {
    errors.push(...labelValueErrors(value).map((reason) => invalid(`${path}.values[${i}]`, value, reason)));
  });
  return errors;
}
