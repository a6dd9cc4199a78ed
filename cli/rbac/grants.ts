/** What roles and bindings give to a service account, and whether that covers a right. */
import type { AdditionalPolicyRule, RbacRule } from "@op/sdk/operator";

/** An object as a file or a cluster has it. */
export interface AnyManifest {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: { readonly name?: string; readonly namespace?: string; readonly labels?: Record<string, string> };
  readonly rules?: readonly AdditionalPolicyRule[];
  readonly roleRef?: { readonly kind?: string; readonly name?: string };
  readonly subjects?: readonly { readonly kind?: string; readonly name?: string; readonly namespace?: string }[];
}

/** A service account. */
export interface Account {
  readonly namespace: string | undefined;
  readonly name: string;
}

/** A rule and where it holds. */
export interface Grant {
  readonly rule: AdditionalPolicyRule;
  /** `ClusterRole website-operator`. */
  readonly role: string;
  /** The namespace in which it holds; absent for the whole cluster. */
  readonly namespace?: string;
}

/** One verb that is given. */
export interface GivenVerb {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  readonly role: string;
  readonly namespace?: string;
}

/**
 * What a service account is given. Without any binding among the objects, all roles count but those that other roles take in.
 *
 * @param objects Roles and bindings, and whatever else is among them.
 * @param account The service account.
 */
export function grantsTo(objects: readonly AnyManifest[], { name, namespace }: Account): Grant[] {
  const roles = objects.filter(({ kind }) => kind === "Role" || kind === "ClusterRole");
  const bindings = objects.filter(({ kind }) => kind === "RoleBinding" || kind === "ClusterRoleBinding");
  if (bindings.length === 0) {
    return roles.filter((role) => !isForPeople(role)).flatMap((role) => rulesOf(role, role.metadata?.namespace));
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
  const told = `${role.kind} ${role.metadata?.name ?? ""}`;
  return (role.rules ?? []).map((rule) => ({
    rule,
    role: told,
    ...(namespace === undefined ? {} : { namespace }),
  }));
}

function isForPeople({ metadata }: AnyManifest): boolean {
  return Object.keys(metadata?.labels ?? {}).some((label) =>
    label.startsWith("rbac.authorization.k8s.io/aggregate-to-")
  );
}

/** Where rights have to hold. */
export interface Place {
  /** The namespaces that the operator looks at; absent for all. */
  readonly watches?: readonly string[] | undefined;
  /** The operator's own namespace, where it is known. */
  readonly own?: string | undefined;
}

/**
 * Whether a right is given, everywhere where it is needed.
 *
 * @param right The right.
 * @param grants What is given.
 * @param place Where.
 */
export function isGiven(right: RbacRule, grants: readonly Grant[], place: Place): boolean {
  const covering = grants.filter(({ rule }) => covers(rule, right));
  if (covering.some(({ namespace }) => namespace === undefined)) return true;
  const everywhere = (namespaces: readonly string[]) =>
    namespaces.every((place) => covering.some(({ namespace }) => namespace === place));
  if (right.namespaces !== undefined) return everywhere(right.namespaces);
  switch (right.scope) {
    case "cluster":
      return false;
    case "own":
      return covering.some(({ namespace }) => place.own === undefined || namespace === "" || namespace === place.own);
    case "watched":
      return place.watches !== undefined && everywhere(place.watches);
  }
}

/** Kubernetes' own rule: a star stands for all, `*` + "/scale" for that subresource of all; a rule with names covers no other. */
function covers(rule: AdditionalPolicyRule, { group, resource, verb, names }: RbacRule): boolean {
  const { resourceNames = [] } = rule;
  return has(rule.apiGroups, group) && has(rule.verbs, verb) && hasResource(rule.resources, resource) &&
    (resourceNames.length === 0 || (names.length > 0 && names.every((name) => resourceNames.includes(name))));
}

function has(list: readonly string[] | undefined, value: string): boolean {
  return list?.some((entry) => entry === "*" || entry === value) ?? false;
}

function hasResource(list: readonly string[] | undefined, resource: string): boolean {
  const [, subresource] = resource.split("/");
  return has(list, resource) || (subresource !== undefined && (list?.includes(`*/${subresource}`) ?? false));
}

/**
 * Verbs that are given and no right needs. A star is one that is more than needed, unless it is needed.
 *
 * @param rights The rights.
 * @param grants What is given.
 */
export function unneeded(rights: readonly RbacRule[], grants: readonly Grant[]): GivenVerb[] {
  return grants.flatMap(({ rule, role, namespace }) =>
    each(rule).filter(({ group, resource, verb }) =>
      !rights.some((right) => right.group === group && right.resource === resource && right.verb === verb)
    ).map((given) => ({ ...given, role, ...(namespace === undefined ? {} : { namespace }) }))
  );
}

/** A file may say `verbs:` and nothing behind it. */
function each({ apiGroups, resources, verbs }: Partial<AdditionalPolicyRule>) {
  return (apiGroups ?? []).flatMap((group) =>
    (resources ?? []).flatMap((resource) => (verbs ?? []).map((verb) => ({ group, resource, verb })))
  );
}
