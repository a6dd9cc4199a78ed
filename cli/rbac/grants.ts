/** Determines which permissions roles and bindings grant to a ServiceAccount. */
import type { AdditionalPolicyRule, RbacRule } from "@op/sdk/operator";

/** An object from a file or a cluster, with the fields of roles and bindings. */
export interface AnyManifest {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: { readonly name?: string; readonly namespace?: string; readonly labels?: Record<string, string> };
  readonly rules?: readonly AdditionalPolicyRule[];
  readonly roleRef?: { readonly kind?: string; readonly name?: string };
  readonly subjects?: readonly { readonly kind?: string; readonly name?: string; readonly namespace?: string }[];
}

/** A ServiceAccount. */
export interface Account {
  readonly namespace: string | undefined;
  readonly name: string;
}

/** A rule of a role, and the namespace in which it applies. */
export interface Grant {
  readonly rule: AdditionalPolicyRule;
  /** The kind and name of the role: `ClusterRole website-operator`. */
  readonly role: string;
  /** The namespace in which it applies, or `undefined` for the whole cluster. */
  readonly namespace?: string;
}

/** A single verb that a role grants. */
export interface GrantedVerb {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  readonly role: string;
  readonly namespace?: string;
}

/**
 * Returns the rules that are granted to a ServiceAccount. If the objects include no bindings, the
 * rules of all roles count, except roles that are aggregated into other roles.
 *
 * @param objects Roles, bindings and any other objects.
 * @param account The ServiceAccount.
 */
export function grantsTo(objects: readonly AnyManifest[], { name, namespace }: Account): Grant[] {
  const roles = objects.filter(({ kind }) => kind === "Role" || kind === "ClusterRole");
  const bindings = objects.filter(({ kind }) => kind === "RoleBinding" || kind === "ClusterRoleBinding");
  if (bindings.length === 0) {
    return roles.filter((role) => !isAggregated(role)).flatMap((role) => rulesOf(role, role.metadata?.namespace));
  }
  const bound = bindings.filter(({ subjects = [] }) =>
    subjects.some((subject) =>
      subject.kind === "ServiceAccount" && subject.name === name &&
      (namespace === undefined || subject.namespace === undefined || subject.namespace === namespace)
    )
  );
  return bound.flatMap((binding) => {
    const within = binding.kind === "RoleBinding" ? binding.metadata?.namespace : undefined;
    const role = roles.find((role) =>
      role.kind === binding.roleRef?.kind && role.metadata?.name === binding.roleRef?.name &&
      (role.kind === "ClusterRole" || role.metadata?.namespace === binding.metadata?.namespace)
    );
    return role === undefined ? [] : rulesOf(role, binding.kind === "RoleBinding" ? within ?? "" : undefined);
  });
}

function rulesOf(role: AnyManifest, namespace: string | undefined): Grant[] {
  const roleName = `${role.kind} ${role.metadata?.name ?? ""}`;
  return (role.rules ?? []).map((rule) => ({
    rule,
    role: roleName,
    ...(namespace === undefined ? {} : { namespace }),
  }));
}

function isAggregated({ metadata }: AnyManifest): boolean {
  return Object.keys(metadata?.labels ?? {}).some((label) =>
    label.startsWith("rbac.authorization.k8s.io/aggregate-to-")
  );
}

/** The namespaces in which an operator needs its permissions. */
export interface Scope {
  /** The namespaces that the operator watches, or `undefined` for all. */
  readonly watches?: readonly string[] | undefined;
  /** The operator's own namespace, if it is known. */
  readonly own?: string | undefined;
}

/**
 * Returns whether a permission is granted in every namespace that needs it.
 *
 * @param permission The permission.
 * @param grants The granted rules.
 * @param scope The namespaces in which the permission is needed.
 */
export function isGranted(permission: RbacRule, grants: readonly Grant[], scope: Scope): boolean {
  const covering = grants.filter(({ rule }) => covers(rule, permission));
  if (covering.some(({ namespace }) => namespace === undefined)) return true;
  const inAll = (namespaces: readonly string[]) =>
    namespaces.every((place) => covering.some(({ namespace }) => namespace === place));
  if (permission.namespaces !== undefined) return inAll(permission.namespaces);
  switch (permission.scope) {
    case "cluster":
      return false;
    case "own":
      return covering.some(({ namespace }) => scope.own === undefined || namespace === "" || namespace === scope.own);
    case "watched":
      return scope.watches !== undefined && inAll(scope.watches);
  }
}

/**
 * Returns whether a rule covers a permission. As in Kubernetes, `*` matches every value, `*` +
 * "/scale" matches this subresource of every resource, and a rule with resource names covers only
 * objects with these names.
 */
function covers(rule: AdditionalPolicyRule, { group, resource, verb, resourceNames: names }: RbacRule): boolean {
  const { resourceNames = [] } = rule;
  return matches(rule.apiGroups, group) && matches(rule.verbs, verb) && matchesResource(rule.resources, resource) &&
    (resourceNames.length === 0 || (names.length > 0 && names.every((name) => resourceNames.includes(name))));
}

function matches(list: readonly string[] | undefined, value: string): boolean {
  return list?.some((entry) => entry === "*" || entry === value) ?? false;
}

function matchesResource(list: readonly string[] | undefined, resource: string): boolean {
  const [, subresource] = resource.split("/");
  return matches(list, resource) || (subresource !== undefined && (list?.includes(`*/${subresource}`) ?? false));
}

/**
 * Returns the verbs that are granted but not needed. A granted `*` counts as not needed, unless the
 * operator needs `*` itself.
 *
 * @param permissions The permissions that are needed.
 * @param grants The granted rules.
 */
export function unneeded(permissions: readonly RbacRule[], grants: readonly Grant[]): GrantedVerb[] {
  return grants.flatMap(({ rule, role, namespace }) =>
    verbsIn(rule).filter(({ group, resource, verb }) =>
      !permissions.some((permission) =>
        permission.group === group && permission.resource === resource && permission.verb === verb
      )
    ).map((granted) => ({ ...granted, role, ...(namespace === undefined ? {} : { namespace }) }))
  );
}

/** Returns each verb of a rule. A list is `null` if a file has `verbs:` without a value. */
function verbsIn({ apiGroups, resources, verbs }: Partial<AdditionalPolicyRule>) {
  return (apiGroups ?? []).flatMap((group) =>
    (resources ?? []).flatMap((resource) => (verbs ?? []).map((verb) => ({ group, resource, verb })))
  );
}
