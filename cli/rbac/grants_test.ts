import assert from "node:assert/strict";
import type { RbacRule } from "@op/sdk/operator";
import { type AnyManifest, grantsTo, isGranted, type Scope, unneeded } from "./grants.ts";

const READ: RbacRule = {
  group: "",
  resource: "pods",
  verb: "list",
  resourceNames: [],
  scope: "watched",
  reason: "reads Pod",
};
const RULE = { apiGroups: [""], resources: ["pods"], verbs: ["list"] };
const SUBJECT = { kind: "ServiceAccount", name: "shop", namespace: "ops" };

function role(kind: string, rules = [RULE], namespace?: string): AnyManifest {
  return { kind, metadata: { name: "shop", ...(namespace === undefined ? {} : { namespace }) }, rules };
}

function binding(kind: string, of: string, namespace?: string, subject = SUBJECT): AnyManifest {
  const metadata = { name: "shop", ...(namespace === undefined ? {} : { namespace }) };
  return { kind, metadata, roleRef: { kind: of, name: "shop" }, subjects: [subject] };
}

const CASES: readonly {
  name: string;
  objects: readonly AnyManifest[];
  permission?: Partial<RbacRule>;
  scope?: Scope;
  expected: boolean;
}[] = [
  { name: "a ClusterRole without any binding counts", objects: [role("ClusterRole")], expected: true },
  {
    name: "a ClusterRole that is aggregated into a role for users does not count",
    objects: [{
      ...role("ClusterRole"),
      metadata: { name: "x", labels: { "rbac.authorization.k8s.io/aggregate-to-view": "true" } },
    }],
    expected: false,
  },
  {
    name: "a ClusterRole that is bound to the account counts",
    objects: [role("ClusterRole"), binding("ClusterRoleBinding", "ClusterRole")],
    expected: true,
  },
  {
    name: "a ClusterRole that is bound to another account does not count",
    objects: [
      role("ClusterRole"),
      binding("ClusterRoleBinding", "ClusterRole", undefined, { ...SUBJECT, name: "other" }),
    ],
    expected: false,
  },
  {
    name: "a ClusterRole that is bound to an account of that name in another namespace does not count",
    objects: [
      role("ClusterRole"),
      binding("ClusterRoleBinding", "ClusterRole", undefined, { ...SUBJECT, namespace: "else" }),
    ],
    expected: false,
  },
  {
    name: "a binding to a missing role grants no permission",
    objects: [binding("ClusterRoleBinding", "ClusterRole")],
    expected: false,
  },
  {
    name: "a Role does not reach all namespaces",
    objects: [role("Role", [RULE], "team"), binding("RoleBinding", "Role", "team")],
    expected: false,
  },
  {
    name: "a Role suffices if only its namespace is checked",
    objects: [role("Role", [RULE], "team"), binding("RoleBinding", "Role", "team")],
    scope: { watches: ["team"] },
    expected: true,
  },
  {
    name: "a ClusterRole bound in one of two namespaces does not suffice",
    objects: [role("ClusterRole"), binding("RoleBinding", "ClusterRole", "team")],
    scope: { watches: ["team", "other"] },
    expected: false,
  },
  {
    name: "a Role does not grant permissions on cluster-scoped objects",
    objects: [role("Role", [RULE], "team"), binding("RoleBinding", "Role", "team")],
    permission: { scope: "cluster" },
    scope: { watches: ["team"] },
    expected: false,
  },
  {
    name: "a permission in the operator's namespace is granted there",
    objects: [role("Role", [RULE], "ops"), binding("RoleBinding", "Role", "ops")],
    permission: { scope: "own" },
    scope: { own: "ops" },
    expected: true,
  },
  {
    name: "a permission in the operator's namespace is not granted in another",
    objects: [role("Role", [RULE], "team"), binding("RoleBinding", "Role", "team")],
    permission: { scope: "own" },
    scope: { own: "ops" },
    expected: false,
  },
  {
    name: "a rule for another API group does not count",
    objects: [role("ClusterRole", [{ ...RULE, apiGroups: ["apps"] }])],
    expected: false,
  },
  {
    name: "a rule with wildcards covers every permission",
    objects: [role("ClusterRole", [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }])],
    expected: true,
  },
  {
    name: "a rule with */log covers the subresource of every resource",
    objects: [role("ClusterRole", [{ ...RULE, resources: ["*/log"] }])],
    permission: { resource: "pods/log" },
    expected: true,
  },
  {
    name: "a resource does not cover its subresources",
    objects: [role("ClusterRole")],
    permission: { resource: "pods/log" },
    expected: false,
  },
  {
    name: "a rule with resource names does not cover all objects",
    objects: [role("ClusterRole", [{ ...RULE, resourceNames: ["a"] } as typeof RULE])],
    expected: false,
  },
  {
    name: "a rule with resource names covers an object with one of them",
    objects: [role("ClusterRole", [{ ...RULE, resourceNames: ["a", "b"] } as typeof RULE])],
    permission: { resourceNames: ["a"] },
    expected: true,
  },
];

for (const { name, objects, permission = {}, scope = {}, expected } of CASES) {
  Deno.test(`isGranted: ${name}`, () => {
    const grants = grantsTo(objects, { name: "shop", namespace: "ops" });
    assert.equal(isGranted({ ...READ, ...permission }, grants, scope), expected);
  });
}

Deno.test("unneeded returns each granted verb that is not needed, and its role", () => {
  const grants = grantsTo([role("ClusterRole", [{ ...RULE, verbs: ["list", "delete", "*"] }])], {
    name: "shop",
    namespace: undefined,
  });
  assert.deepEqual(unneeded([READ], grants), [
    { group: "", resource: "pods", verb: "delete", role: "ClusterRole shop" },
    { group: "", resource: "pods", verb: "*", role: "ClusterRole shop" },
  ]);
});
