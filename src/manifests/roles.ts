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
 * @param rights The permissions.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const pod = { group: "", resource: "pods", names: [], scope: "watched", reason: "reads Pod" } as const;
 * assert.deepEqual(rulesOf([{ ...pod, verb: "watch" }, { ...pod, verb: "list" }]), [
 *   { apiGroups: [""], resources: ["pods"], verbs: ["list", "watch"] },
 * ]);
 * ```
 */
export function rulesOf(rights: readonly RbacRule[]): AdditionalPolicyRule[] {
  const rules = new Map<string, { readonly right: RbacRule; readonly verbs: Set<string> }>();
  for (const right of rights) {
    const key = `${right.group} ${right.resource} ${right.names.join(" ")}`;
    const rule = rules.get(key) ?? { right, verbs: new Set<string>() };
    rule.verbs.add(right.verb);
    rules.set(key, rule);
  }
  return [...rules.values()].map(({ right, verbs }) => ({
    apiGroups: [right.group],
    resources: [right.resource],
    ...(right.names.length === 0 ? {} : { resourceNames: right.names }),
    verbs: [...verbs].sort((a, b) => VERBS.indexOf(a) - VERBS.indexOf(b)),
  }));
}

/**
 * Returns the service account of an operator, its roles and their bindings. Permissions for all
 * namespaces are in a ClusterRole. If the operator watches only some namespaces, or a watch names
 * some, each of them has a Role. Permissions for the operator's own objects, such as its Lease, are
 * in a Role of its namespace.
 *
 * @param operator The operator's name.
 * @param rights Its RBAC permissions.
 * @param install Where and how it is installed.
 */
export function accessManifests(operator: string, rights: readonly RbacRule[], install: Install): Manifest[] {
  const { namespace, watchNamespaces, policies } = install;
  const wide = rights.filter(isWide);
  const named = rights.filter((right) =>
    right.scope === "watched" && !isWide(right) && !wide.some((other) => isSame(right, other))
  );
  const own = rights.filter(({ scope }) => scope === "own");
  const wideRules = [...rulesOf(wide), ...(watchNamespaces === undefined ? policies : [])];
  return [
    {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: operator, namespace, labels: labelsOf(operator) },
      // The pod mounts its token explicitly, so no other pod gets one by accident.
      automountServiceAccountToken: false,
    },
    ...(wideRules.length === 0 ? [] : bound("ClusterRole", operator, wideRules)),
    ...placesOf(named, watchNamespaces ?? []).flatMap((place) => {
      const rules = rulesOf(named.filter(({ namespaces = watchNamespaces }) => namespaces?.includes(place)));
      const beside = watchNamespaces?.includes(place) ? policies : [];
      return rules.length + beside.length === 0 ? [] : bound("Role", operator, [...rules, ...beside], place);
    }),
    ...placesOf(own, [namespace]).flatMap((place) => {
      const rules = rulesOf(own.filter(({ namespaces = [namespace] }) => namespaces.includes(place)));
      return rules.length === 0 ? [] : bound("Role", `${operator}-leader-election`, rules, place);
    }),
  ];

  function isWide({ scope, namespaces }: RbacRule): boolean {
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

/** Returns the namespaces that have a Role: the given ones, then those that permissions name. */
function placesOf(rights: readonly RbacRule[], given: readonly string[]): string[] {
  return [...new Set([...given, ...rights.flatMap(({ namespaces = [] }) => namespaces)])];
}

function isSame(one: RbacRule, other: RbacRule): boolean {
  return one.group === other.group && one.resource === other.resource && one.verb === other.verb;
}
