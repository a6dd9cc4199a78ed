/** Validation of roles and bindings (`k8s.io/kubernetes/pkg/apis/rbac/validation`). */
import { equal, isObject } from "../../base/json.ts";
import { pathSegmentFaults, subdomainFaults } from "../../base/name_rules.ts";
import { type FieldError, invalid, notSupported, required } from "../../schema/field_error.ts";
import type { PolicyRule } from "../access/policy_rule.ts";
import { selectorFaults } from "../objects/label_selector.ts";
import type { StoredObject } from "../objects/objects.ts";

const GROUP = "rbac.authorization.k8s.io";

/** Returns the errors of a Role or ClusterRole. */
export function roleFaults(role: StoredObject): FieldError[] {
  const isNamespaced = role.kind === "Role";
  const rules = (role.rules ?? []) as readonly PolicyRule[];
  const faults = rules.flatMap((rule, i) => ruleFaults(rule, isNamespaced, `rules[${i}]`));
  const { aggregationRule } = role;
  if (isNamespaced || !isObject(aggregationRule)) return faults;
  const selectors = aggregationRule.clusterRoleSelectors;
  if (Array.isArray(selectors) && selectors.length > 0) {
    const path = "aggregationRule.clusterRoleSelectors";
    return [...faults, ...selectors.flatMap((selector, i) => selectorFaults(selector, `${path}[${i}]`))];
  }
  const reason = "at least one clusterRoleSelector required if aggregationRule is non-nil";
  return [...faults, required("aggregationRule.clusterRoleSelectors", reason)];
}

function ruleFaults(rule: PolicyRule, isNamespaced: boolean, path: string): FieldError[] {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const faults: FieldError[] = [];
  if (verbs.length === 0) faults.push(required(`${path}.verbs`, "verbs must contain at least one value"));
  if (nonResourceURLs.length > 0) {
    const field = `${path}.nonResourceURLs`;
    if (isNamespaced) {
      faults.push(invalid(field, nonResourceURLs, "namespaced rules cannot apply to non-resource URLs"));
    }
    if (apiGroups.length + resources.length + resourceNames.length > 0) {
      faults.push(
        invalid(field, nonResourceURLs, "rules cannot apply to both regular resources and non-resource URLs"),
      );
    }
    return faults;
  }
  if (apiGroups.length === 0) {
    faults.push(required(`${path}.apiGroups`, "resource rules must supply at least one api group"));
  }
  if (resources.length === 0) {
    faults.push(required(`${path}.resources`, "resource rules must supply at least one resource"));
  }
  return faults;
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns the errors of a RoleBinding or ClusterRoleBinding. */
export function bindingFaults(binding: StoredObject, old?: StoredObject): FieldError[] {
  const isNamespaced = binding.kind === "RoleBinding";
  const role = (isObject(binding.roleRef) ? binding.roleRef : {}) as Fields;
  const { apiGroup = "", kind = "", name = "" } = role;
  const faults: FieldError[] = [];
  if (apiGroup !== GROUP) faults.push(notSupported("roleRef.apiGroup", apiGroup, [GROUP]));
  const kinds = isNamespaced ? ["Role", "ClusterRole"] : ["ClusterRole"];
  if (!kinds.some((each) => each === kind)) faults.push(notSupported("roleRef.kind", kind, kinds));
  if (name === "") faults.push(required("roleRef.name"));
  else faults.push(...pathSegmentFaults(String(name)).map((reason) => invalid("roleRef.name", name, reason)));
  const subjects = (Array.isArray(binding.subjects) ? binding.subjects : []) as readonly Fields[];
  subjects.forEach((subject, i) => faults.push(...subjectFaults(subject, isNamespaced, `subjects[${i}]`)));
  if (old !== undefined && !equal(old.roleRef, binding.roleRef)) {
    faults.push(invalid("roleRef", { APIGroup: apiGroup, Kind: kind, Name: name }, "cannot change roleRef"));
  }
  return faults;
}

function subjectFaults(subject: Fields, isNamespaced: boolean, path: string): FieldError[] {
  const { kind = "", name = "", apiGroup = "", namespace = "" } = subject;
  const faults: FieldError[] = [];
  if (name === "") faults.push(required(`${path}.name`));
  if (kind === "ServiceAccount") {
    if (name !== "") {
      faults.push(...subdomainFaults(String(name)).map((reason) => invalid(`${path}.name`, name, reason)));
    }
    if (apiGroup !== "") faults.push(notSupported(`${path}.apiGroup`, apiGroup, [""]));
    if (!isNamespaced && namespace === "") faults.push(required(`${path}.namespace`));
  } else if (kind === "User" || kind === "Group") {
    if (apiGroup !== GROUP) faults.push(notSupported(`${path}.apiGroup`, apiGroup, [GROUP]));
  } else faults.push(notSupported(`${path}.kind`, kind, ["ServiceAccount", "User", "Group"]));
  return faults;
}
