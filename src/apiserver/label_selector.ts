/** Label selectors as objects, as they stand in specs (`k8s.io/apimachinery/pkg/apis/meta/v1`, `LabelSelectorAsSelector`). */
import { own } from "../base/own.ts";

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

/** Whether labels are selected. */
export function matchesSelector(selector: LabelSelector, labels: Readonly<Record<string, string>> = {}): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return Object.entries(matchLabels).every(([key, value]) => own(labels, key) === value) &&
    matchExpressions.every((requirement) => isMet(requirement, labels));
}

function isMet({ key, operator, values = [] }: LabelRequirement, labels: Readonly<Record<string, string>>): boolean {
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
