/** Roles and bindings with the RBAC permissions of an operator. */
import type { AdditionalPolicyRule, Install } from "./install.ts";
import { labelsOf, type Manifest } from "./manifest.ts";
import type { RbacRule } from "./rbac.ts";

/** The API group of roles. */
const RBAC = "rbac.authorization.k8s.io";

/** The order of verbs in a rule: read, write, delete. */
const VERBS = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

/**
 * Returns RBAC permissions as rules: one per resource, in the order of the permissions.
 *
 * @param permissions The permissions.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const pods = { group: "", resource: "pods", resourceNames: [], scope: "watched" } as const;
 * const pod = { ...pods, reason: "reads Pod" };
 * assert.deepEqual(rulesOf([{ ...pod, verb: "watch" }, { ...pod, verb: "list" }]), [
 *   { apiGroups: [""], resources: ["pods"], verbs: ["list", "watch"] },
 * ]);
 * ```
 */
export function rulesOf(permissions: readonly RbacRule[]): AdditionalPolicyRule[] {
  const rules = new Map<string, { readonly permission: RbacRule; readonly verbs: Set<string> }>();
  for (const permission of permissions) {
    const key = `${permission.group} ${permission.resource} ${permission.resourceNames.join(" ")}`;
    const rule = rules.get(key) ?? { permission, verbs: new Set<string>() };
    rule.verbs.add(permission.verb);
    rules.set(key, rule);
  }
  return [...rules.values()].map(({ permission: { group, resource, resourceNames: names }, verbs }) => ({
    apiGroups: [group],
    resources: [resource],
    ...(names.length === 0 ? {} : { resourceNames: names }),
    verbs: [...verbs].sort((a, b) => VERBS.indexOf(a) - VERBS.indexOf(b)),
  }));
}

/**
 * Returns the service account of an operator, its roles and their bindings. A ClusterRole has the
 * permissions for all namespaces. If the operator or a watch is limited to some namespaces, there
 * is a Role in each of them. A Role in the operator's namespace has the permissions for its own
 * objects, such as its Lease.
 *
 * @param operator The operator's name.
 * @param permissions Its RBAC permissions.
 * @param install Where and how it is installed.
 */
export function accessManifests(operator: string, permissions: readonly RbacRule[], install: Install): Manifest[] {
  const { namespace, watchNamespaces, policies } = install;
  const clusterWide = permissions.filter(isClusterWide);
  const namespaced = permissions.filter((permission) =>
    permission.scope === "watched" && !isClusterWide(permission) &&
    !clusterWide.some((other) => isSame(permission, other))
  );
  const own = permissions.filter(({ scope }) => scope === "own");
  const clusterRules = [...rulesOf(clusterWide), ...(watchNamespaces === undefined ? policies : [])];
  return [
    {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: operator, namespace, labels: labelsOf(operator) },
      // The pod mounts its token explicitly, so no other pod gets one by accident.
      automountServiceAccountToken: false,
    },
    ...(clusterRules.length === 0 ? [] : bound("ClusterRole", operator, clusterRules)),
    ...namespacesOf(namespaced, watchNamespaces ?? []).flatMap((each) => {
      const rules = [
        ...rulesOf(namespaced.filter(({ namespaces = watchNamespaces }) => namespaces?.includes(each))),
        ...(watchNamespaces?.includes(each) ? policies : []),
      ];
      return rules.length === 0 ? [] : bound("Role", operator, rules, each);
    }),
    ...namespacesOf(own, [namespace]).flatMap((each) => {
      const rules = rulesOf(own.filter(({ namespaces = [namespace] }) => namespaces.includes(each)));
      return rules.length === 0 ? [] : bound("Role", `${operator}-leader-election`, rules, each);
    }),
  ];

  /** Returns whether a permission is granted in all namespaces. */
  function isClusterWide({ scope, namespaces }: RbacRule): boolean {
    return scope === "cluster" || (scope === "watched" && namespaces === undefined && watchNamespaces === undefined);
  }

  function bound(
    kind: "Role" | "ClusterRole",
    name: string,
    rules: readonly AdditionalPolicyRule[],
    within?: string,
  ): Manifest[] {
    const metadata = { name, ...(within === undefined ? {} : { namespace: within }), labels: labelsOf(operator) };
    return [
      { apiVersion: `${RBAC}/v1`, kind, metadata, rules },
      {
        apiVersion: `${RBAC}/v1`,
        kind: `${kind}Binding`,
        metadata,
        roleRef: { apiGroup: RBAC, kind, name },
        subjects: [{ kind: "ServiceAccount", name: operator, namespace }],
      },
    ];
  }
}

/** Returns the namespaces that need a Role: the given ones, then those in the permissions. */
function namespacesOf(permissions: readonly RbacRule[], given: readonly string[]): string[] {
  return [...new Set([...given, ...permissions.flatMap(({ namespaces = [] }) => namespaces)])];
}

function isSame(one: RbacRule, other: RbacRule): boolean {
  return one.group === other.group && one.resource === other.resource && one.verb === other.verb;
}
