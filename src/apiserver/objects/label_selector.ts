/** Label selectors in specs (`k8s.io/apimachinery/pkg/apis/meta/v1`, `LabelSelectorAsSelector`). */
import { labelValueFaults, qualifiedNameFaults } from "../../base/name_rules.ts";
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
export function selectorFaults({ matchLabels = {}, matchExpressions = [] }: LabelSelector, path: string): FieldError[] {
  const labelsPath = `${path}.matchLabels`;
  const ofLabels = Object.entries(matchLabels).flatMap(([key, value]) => [
    ...qualifiedNameFaults(key).map((reason) => invalid(labelsPath, key, reason)),
    ...labelValueFaults(value).map((reason) => invalid(labelsPath, value, reason)),
  ]);
  const ofExpressions = matchExpressions.flatMap((requirement, i) =>
    requirementFaults(requirement, `${path}.matchExpressions[${i}]`)
  );
  return [...ofLabels, ...ofExpressions];
}

function requirementFaults({ key = "", operator, values = [] }: LabelRequirement, path: string): FieldError[] {
  const faults: FieldError[] = [];
  if (operator === "In" || operator === "NotIn") {
    const reason = "must be specified when `operator` is 'In' or 'NotIn'";
    if (values.length === 0) faults.push(required(`${path}.values`, reason));
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    const reason = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    if (values.length > 0) faults.push(forbidden(`${path}.values`, reason));
  } else faults.push(invalid(`${path}.operator`, operator, "not a valid selector operator"));
  faults.push(...qualifiedNameFaults(key).map((reason) => invalid(`${path}.key`, key, reason)));
  values.forEach((value, i) => {
    faults.push(...labelValueFaults(value).map((reason) => invalid(`${path}.values[${i}]`, value, reason)));
  });
  return faults;
}
