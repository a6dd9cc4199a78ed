/** Validation of roles and bindings (`k8s.io/kubernetes/pkg/apis/rbac/validation`). */
import { equal, isObject } from "../../base/json.ts";
import { pathSegmentErrors, subdomainErrors } from "../../base/name_rules.ts";
import { type FieldError, invalid, notSupported, required } from "../../schema/field_error.ts";
import type { PolicyRule } from "../access/policy_rule.ts";
import { selectorErrors } from "../objects/label_selector.ts";
import type { StoredObject } from "../objects/objects.ts";

const GROUP = "rbac.authorization.k8s.io";

/** Returns the errors of a Role or ClusterRole. */
export function roleErrors(role: StoredObject): FieldError[] {
  const isNamespaced = role.kind === "Role";
  const rules = (role.rules ?? []) as readonly PolicyRule[];
  const errors = rules.flatMap((rule, i) => ruleErrors(rule, isNamespaced, `rules[${i}]`));
  const { aggregationRule } = role;
  if (isNamespaced || !isObject(aggregationRule)) return errors;
  const selectors = aggregationRule.clusterRoleSelectors;
  if (Array.isArray(selectors) && selectors.length > 0) {
    const path = "aggregationRule.clusterRoleSelectors";
    return [...errors, ...selectors.flatMap((selector, i) => selectorErrors(selector, `${path}[${i}]`))];
  }
  const reason = "at least one clusterRoleSelector required if aggregationRule is non-nil";
  return [...errors, required("aggregationRule.clusterRoleSelectors", reason)];
}

function ruleErrors(rule: PolicyRule, isNamespaced: boolean, path: string): FieldError[] {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const errors: FieldError[] = [];
  if (verbs.length === 0) errors.push(required(`${path}.verbs`, "verbs must contain at least one value"));
  if (nonResourceURLs.length > 0) {
    const field = `${path}.nonResourceURLs`;
    if (isNamespaced) {
      errors.push(invalid(field, nonResourceURLs, "namespaced rules cannot apply to non-resource URLs"));
    }
    if (apiGroups.length + resources.length + resourceNames.length > 0) {
      errors.push(
        invalid(field, nonResourceURLs, "rules cannot apply to both regular resources and non-resource URLs"),
      );
    }
    return errors;
  }
  if (apiGroups.length === 0) {
    errors.push(required(`${path}.apiGroups`, "resource rules must supply at least one api group"));
  }
  if (resources.length === 0) {
    errors.push(required(`${path}.resources`, "resource rules must supply at least one resource"));
  }
  return errors;
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns the errors of a RoleBinding or ClusterRoleBinding. */
export function bindingErrors(binding: StoredObject, old?: StoredObject): FieldError[] {
  const isNamespaced = binding.kind === "RoleBinding";
  const role = (isObject(binding.roleRef) ? binding.roleRef : {}) as Fields;
  const { apiGroup = "", kind = "", name = "" } = role;
  const errors: FieldError[] = [];
  if (apiGroup !== GROUP) errors.push(notSupported("roleRef.apiGroup", apiGroup, [GROUP]));
  const kinds = isNamespaced ? ["Role", "ClusterRole"] : ["ClusterRole"];
  if (!kinds.some((each) => each === kind)) errors.push(notSupported("roleRef.kind", kind, kinds));
  if (name === "") errors.push(required("roleRef.name"));
  else errors.push(...pathSegmentErrors(String(name)).map((reason) => invalid("roleRef.name", name, reason)));
  const subjects = (Array.isArray(binding.subjects) ? binding.subjects : []) as readonly Fields[];
  subjects.forEach((subject, i) => errors.push(...subjectErrors(subject, isNamespaced, `subjects[${i}]`)));
  if (old !== undefined && !equal(old.roleRef, binding.roleRef)) {
    errors.push(invalid("roleRef", { APIGroup: apiGroup, Kind: kind, Name: name }, "cannot change roleRef"));
  }
  return errors;
}

function subjectErrors(subject: Fields, isNamespaced: boolean, path: string): FieldError[] {
  const { kind = "", name = "", apiGroup = "", namespace = "" } = subject;
  const errors: FieldError[] = [];
  if (name === "") errors.push(required(`${path}.name`));
  if (kind === "ServiceAccount") {
    if (name !== "") {
      errors.push(...subdomainErrors(String(name)).map((reason) => invalid(`${path}.name`, name, reason)));
    }
    if (apiGroup !== "") errors.push(notSupported(`${path}.apiGroup`, apiGroup, [""]));
    if (!isNamespaced && namespace === "") errors.push(required(`${path}.namespace`));
  } else if (kind === "User" || kind === "Group") {
    if (apiGroup !== GROUP) errors.push(notSupported(`${path}.apiGroup`, apiGroup, [GROUP]));
  } else errors.push(notSupported(`${path}.kind`, kind, ["ServiceAccount", "User", "Group"]));
  return errors;
}
