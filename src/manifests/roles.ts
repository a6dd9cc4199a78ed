/** Roles and their bindings: the rights of an operator as the objects that give them. */
import type { Install, PolicyRule } from "./install.ts";
import { labelsOf, type Manifest } from "./manifest.ts";
import type { Right } from "./rights.ts";

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
export function rulesOf(rights: readonly Right[]): PolicyRule[] {
  const rules = new Map<string, { readonly right: Right; readonly verbs: Set<string> }>();
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
 * namespaces only, there is a Role in each of them. What is its own, as its Lease, is in a Role of its namespace.
 *
 * @param operator The operator's name.
 * @param rights Its rights.
 * @param install Where and how it is installed.
 */
export function accessManifests(operator: string, rights: readonly Right[], install: Install): Manifest[] {
  const { namespace, watches, policies } = install;
  const of = (scope: Right["scope"]) => rights.filter((right) => right.scope === scope);
  const watched = rulesOf(of("watched"));
  const wide = watches === undefined
    ? [...rulesOf([...of("cluster"), ...of("watched")].sort(byOrderIn(rights))), ...policies]
    : rulesOf(of("cluster"));
  const own = rulesOf(of("own"));
  return [
    {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: operator, namespace, labels: labelsOf(operator) },
      // The pod asks for its token itself: no other pod gets one by accident.
      automountServiceAccountToken: false,
    },
    ...(wide.length === 0 ? [] : bound("ClusterRole", operator, wide)),
    ...(watches ?? []).flatMap((watch) =>
      watched.length + policies.length === 0 ? [] : bound("Role", operator, [...watched, ...policies], watch)
    ),
    ...(own.length === 0 ? [] : bound("Role", `${operator}-leader-election`, own, namespace)),
  ];

  function bound(
    kind: "Role" | "ClusterRole",
    name: string,
    rules: readonly PolicyRule[],
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

function byOrderIn(rights: readonly Right[]): (a: Right, b: Right) => number {
  return (a, b) => rights.indexOf(a) - rights.indexOf(b);
}
