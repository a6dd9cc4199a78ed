/** Roles and their bindings: the rights of an operator as the objects that give them. */
import type { AdditionalPolicyRule, Install } from "./install.ts";
import { labelsOf, type Manifest } from "./manifest.ts";
import type { RbacRule } from "./rbac.ts";

/** The API group of roles. */
const RBAC = "rbac.authorization.k8s.io";

/** The order of verbs in a rule: what reads, what writes, what removes. */
const VERBS = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

/**
 * Rights as rules: one for each resource, in the order in which they come.
 *
 * @param rights The rights.
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
 * The service account of an operator, its roles and their bindings. What it looks at everywhere is in a ClusterRole; where it looks at some
 * namespaces only, there is a Role in each of them; so there is where a watch names namespaces. What is its own, as its Lease, is in a Role of its
 * namespace.
 *
 * @param operator The operator's name.
 * @param rights Its rights.
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
      // The pod asks for its token itself: no other pod gets one by accident.
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

/** The namespaces in which there is a role: the given ones, then those that rights name. */
function placesOf(rights: readonly RbacRule[], given: readonly string[]): string[] {
  return [...new Set([...given, ...rights.flatMap(({ namespaces = [] }) => namespaces)])];
}

function isSame(one: RbacRule, other: RbacRule): boolean {
  return one.group === other.group && one.resource === other.resource && one.verb === other.verb;
}
