/** Roles and bindings for cases about access. */
import type { Recorder } from "./recorder.ts";

/** Path of the API group of roles. */
export const RBAC = "/apis/rbac.authorization.k8s.io/v1";
/** Path of the API group of access reviews. */
export const AUTHORIZATION = "/apis/authorization.k8s.io/v1";

const GROUP = "rbac.authorization.k8s.io";

type Fields = Readonly<Record<string, unknown>>;

/** A rule of a role. */
export interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

export const READ: Rule = { verbs: ["get", "list", "watch"], apiGroups: [""], resources: ["configmaps"] };
export const WRITE: Rule = { verbs: ["*"], apiGroups: [""], resources: ["configmaps"] };

/** Returns the path of the Roles or RoleBindings in the namespace of a case, or of one object. */
export function rbacPath(api: Recorder, plural: string, rest = ""): string {
  return `${RBAC}/namespaces/${api.namespace}/${plural}${rest}`;
}

/** Returns a name for cluster-scoped objects that no other case uses. */
export function uniqueName(api: Recorder, name: string): string {
  return `${api.namespace}-${name}`;
}

export function role(name: string, rules: readonly unknown[]): Fields {
  return { apiVersion: `${GROUP}/v1`, kind: "Role", metadata: { name }, rules };
}

export function clusterRole(name: string, rules: readonly unknown[] | null, more: Fields = {}): Fields {
  return { apiVersion: `${GROUP}/v1`, kind: "ClusterRole", metadata: { name }, rules, ...more };
}

/** Returns a RoleBinding of a Role or ClusterRole. */
export function binding(name: string, role: string, subjects: readonly Fields[], kind = "Role"): Fields {
  const roleRef = { apiGroup: GROUP, kind, name: role };
  return { apiVersion: `${GROUP}/v1`, kind: "RoleBinding", metadata: { name }, roleRef, subjects };
}

export function clusterBinding(name: string, role: string, subjects: readonly Fields[]): Fields {
  return { ...binding(name, role, subjects, "ClusterRole"), kind: "ClusterRoleBinding" };
}

export function user(name: string): Fields {
  return { kind: "User", apiGroup: GROUP, name };
}

export function group(name: string): Fields {
  return { kind: "Group", apiGroup: GROUP, name };
}

export function account(name: string, namespace?: string): Fields {
  return { kind: "ServiceAccount", name, ...(namespace !== undefined && { namespace }) };
}

/** Grants a user RBAC permissions in the case's namespace, and waits until they take effect. */
export async function grant(api: Recorder, name: string, rules: readonly Rule[]): Promise<void> {
  await api.quietly("POST", rbacPath(api, "roles"), role(`role-of-${name}`, rules));
  await api.quietly("POST", rbacPath(api, "rolebindings"), binding(`b-${name}`, `role-of-${name}`, [user(name)]));
  for (const rule of rules) await untilAccessIs(api, { user: name, ...attributesFor(rule, api.namespace) });
}

/**
 * Grants a user RBAC permissions in all namespaces, and waits until they take effect. No other case
 * may use the name of the user.
 */
export async function grantAll(api: Recorder, name: string, rules: readonly Rule[]): Promise<void> {
  await api.quietly("POST", `${RBAC}/clusterroles`, clusterRole(name, rules));
  await api.quietly("POST", `${RBAC}/clusterrolebindings`, clusterBinding(name, name, [user(name)]));
  for (const rule of rules) await untilAccessIs(api, { user: name, ...attributesFor(rule, api.namespace) });
}

function attributesFor(rule: Rule, namespace: string): Fields {
  const { verbs, apiGroups, resources, resourceNames = [], nonResourceURLs } = rule;
  const verb = verbs[0];
  if (nonResourceURLs !== undefined) return { nonResourceAttributes: { verb, path: nonResourceURLs[0] } };
  const [resource, subresource] = (resources?.[0] ?? "").split("/");
  return {
    resourceAttributes: {
      namespace,
      verb,
      group: apiGroups?.[0],
      resource,
      ...(subresource && { subresource }),
      ...(resourceNames.length > 0 && { name: resourceNames[0] }),
    },
  };
}

/**
 * Waits until an access review has the expected result. The real server reads roles from a cache,
 * so changes take effect later.
 */
export async function untilAccessIs(api: Recorder, spec: Fields, allowed = true): Promise<void> {
  const body = { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", spec };
  while (true) {
    const answer = await api.quietly("POST", `${AUTHORIZATION}/subjectaccessreviews`, body);
    if (answer.body.status.allowed === allowed) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/**
 * Waits until a user is allowed, or is no longer allowed, to read ConfigMaps of the case's
 * namespace.
 */
export async function untilMayRead(api: Recorder, spec: Fields, allowed = true): Promise<void> {
  await untilAccessIs(api, { ...spec, ...attributesFor(READ, api.namespace) }, allowed);
}
