import assert from "node:assert/strict";
import { ConfigMap, Namespace, Secret } from "../kinds/mod.ts";
import { controller } from "../parts/controller.ts";
import { watch } from "../parts/watch.ts";
import { resource } from "../resource/mod.ts";
import { s } from "../schema/mod.ts";
import { installOf, type InstallOptions } from "./install.ts";
import { kindRoles } from "./kind_roles.ts";
import type { Manifest } from "./manifest.ts";
import { rbacRulesOf } from "./rbac.ts";
import { accessManifests, rulesOf } from "./roles.ts";

const OWN = { group: "demo.example.com", version: "v1", spec: s.object({}) } as const;
const Note = resource({ ...OWN, kind: "Note", status: s.object({}) });
const notes = controller(Note, { owns: [ConfigMap], reconcile() {} });
const spaces = controller(Namespace, { reads: [ConfigMap], reconcile() {} });
const PERMISSIONS = rbacRulesOf({ notes, spaces }, { lease: { name: "shop" } });

Deno.test("rulesOf returns one rule per resource with ordered verbs, even if several parts need the resource", () => {
  const rules = rulesOf(PERMISSIONS).map(({ resources, resourceNames = [], verbs }) =>
    `${resources} ${resourceNames}: ${verbs.join(" ")}`
  );
  assert.deepEqual(rules, [
    "notes : list watch patch",
    "notes/status : patch",
    "notes/finalizers : update",
    "configmaps : list watch create patch",
    "namespaces : list watch",
    "leases : create",
    "leases shop: get patch",
  ]);
});

const ACCESS: readonly { name: string; options: InstallOptions; expected: readonly string[] }[] = [
  {
    name: "a ClusterRole if all namespaces are watched, and a Role for own objects",
    options: {},
    expected: [
      "ServiceAccount shop-system/shop",
      "ClusterRole shop: notes notes/status notes/finalizers configmaps namespaces",
      "ClusterRoleBinding shop -> ClusterRole shop for shop-system/shop",
      "Role shop-system/shop-leader-election: leases leases",
      "RoleBinding shop-system/shop-leader-election -> Role shop-leader-election for shop-system/shop",
    ],
  },
  {
    name: "a Role in each watched namespace, and a ClusterRole for cluster-scoped kinds",
    options: { namespace: "ops", watchNamespaces: ["a", "b"] },
    expected: [
      "ServiceAccount ops/shop",
      "ClusterRole shop: namespaces",
      "ClusterRoleBinding shop -> ClusterRole shop for ops/shop",
      "Role a/shop: notes notes/status notes/finalizers configmaps",
      "RoleBinding a/shop -> Role shop for ops/shop",
      "Role b/shop: notes notes/status notes/finalizers configmaps",
      "RoleBinding b/shop -> Role shop for ops/shop",
      "Role ops/shop-leader-election: leases leases",
      "RoleBinding ops/shop-leader-election -> Role shop-leader-election for ops/shop",
    ],
  },
  {
    name: "additional policies in the watched namespaces",
    options: { watchNamespaces: ["a"], policies: [{ apiGroups: ["batch"], resources: ["jobs"], verbs: ["get"] }] },
    expected: [
      "ServiceAccount shop-system/shop",
      "ClusterRole shop: namespaces",
      "ClusterRoleBinding shop -> ClusterRole shop for shop-system/shop",
      "Role a/shop: notes notes/status notes/finalizers configmaps jobs",
      "RoleBinding a/shop -> Role shop for shop-system/shop",
      "Role shop-system/shop-leader-election: leases leases",
      "RoleBinding shop-system/shop-leader-election -> Role shop-leader-election for shop-system/shop",
    ],
  },
];

for (const { name, options, expected } of ACCESS) {
  Deno.test(`accessManifests returns ${name}`, () => {
    const install = installOf({ name: "shop", version: "1.0.0" }, options);
    assert.deepEqual(accessManifests("shop", PERMISSIONS, install).map(summary), expected);
  });
}

const WATCH_ROLES: readonly { name: string; options: InstallOptions; expected: readonly string[] }[] = [
  {
    name: "without the permissions of the ClusterRole",
    options: {},
    expected: [
      "ClusterRole shop: notes notes/status events",
      "Role kept/shop: secrets",
      "Role ops/shop-leader-election: leases leases",
    ],
  },
  {
    name: "also if only some namespaces are watched",
    options: { watchNamespaces: ["a", "kept"] },
    expected: [
      "Role a/shop: notes notes/status events",
      "Role kept/shop: notes notes/status secrets events",
      "Role ops/shop-leader-election: leases leases",
    ],
  },
];

for (const { name, options, expected } of WATCH_ROLES) {
  Deno.test(`accessManifests returns a Role for the namespace of a watch, ${name}`, () => {
    const part = controller(Note, {
      watches: [watch(Secret, { namespaces: ["kept"], map: () => undefined })],
      reconcile() {},
    });
    const other = controller(Note, { watches: [watch(Note, { namespaces: ["kept"] })], reconcile() {} });
    const permissions = rbacRulesOf({ part, other }, { lease: { name: "shop", namespace: "ops" }, events: true });
    const manifests = accessManifests("shop", permissions, installOf({ name: "shop", version: "1.0.0" }, options));
    assert.deepEqual(manifests.filter(({ kind }) => /Role$/.test(kind)).map(summary), expected);
  });
}

Deno.test("accessManifests returns no role if no RBAC permission is needed", () => {
  const install = installOf({ name: "shop", version: "1.0.0" }, {});
  assert.deepEqual(accessManifests("shop", [], install).map(summary), ["ServiceAccount shop-system/shop"]);
});

Deno.test("kindRoles returns three roles per kind, with different names for kinds of the same plural name", () => {
  const Wide = resource({ ...OWN, kind: "Wide", scope: "Cluster" });
  const Other = resource({ ...OWN, group: "other.example.com", kind: "Note" });
  const crds = [Note.crd, Wide.crd, Other.crd];
  const roles = kindRoles("shop", crds);
  assert.deepEqual(roles.map(({ metadata }) => metadata.name), [
    ...["admin", "editor", "viewer"].map((role) => `shop-notes.demo.example.com-${role}`),
    ...["admin", "editor", "viewer"].map((role) => `shop-wides-${role}`),
    ...["admin", "editor", "viewer"].map((role) => `shop-notes.other.example.com-${role}`),
  ]);
  assert.deepEqual(roles[2]?.rules, [
    { apiGroups: ["demo.example.com"], resources: ["notes"], verbs: ["get", "list", "watch"] },
    { apiGroups: ["demo.example.com"], resources: ["notes/status"], verbs: ["get"] },
  ]);
  const aggregated = (role: Manifest | undefined) =>
    Object.keys(role?.metadata.labels ?? {}).filter((label) => label.includes("aggregate"));
  assert.deepEqual(roles.slice(0, 3).flatMap(aggregated).map((label) => label.split("-to-")[1]), [
    "admin",
    "edit",
    "view",
  ]);
  assert.deepEqual(
    roles.slice(3, 6).flatMap(aggregated),
    [],
    "no default role aggregates the roles of cluster-scoped kinds",
  );
});

const INVALID: readonly { name: string; options: InstallOptions; message: RegExp }[] = [
  {
    name: "an invalid namespace",
    options: { namespace: "My_Space" },
    message: /"My_Space" is not the name of a namespace/,
  },
  {
    name: "an empty name of a watched namespace",
    options: { watchNamespaces: [""] },
    message: /"" is not the name of a namespace/,
  },
  {
    name: "a policy without verbs",
    options: { policies: [{ apiGroups: [""], resources: ["pods"], verbs: [] }] },
    message: /"verbs" of a policy must be a list .*, got \{"apiGroups":\[""\],"resources":\["pods"\],"verbs":\[\]\}\.$/,
  },
  { name: "an image with a space", options: { image: "a b" }, message: /"a b" is not an image/ },
];

for (const { name, options, message } of INVALID) {
  Deno.test(`installOf rejects ${name}`, () => {
    assert.throws(() => installOf({ name: "shop", version: "1.0.0" }, options), { name: "TypeError", message });
  });
}

function summary({ kind, metadata: { name, namespace }, ...manifest }: Manifest): string {
  const place = namespace === undefined ? name : `${namespace}/${name}`;
  if (kind === "ServiceAccount") return `${kind} ${place}`;
  if (kind === "ClusterRole" || kind === "Role") {
    const rules = manifest.rules as { resources: string[] }[];
    return `${kind} ${place}: ${rules.flatMap(({ resources }) => resources).join(" ")}`;
  }
  const { roleRef, subjects } = manifest as unknown as {
    roleRef: { kind: string; name: string };
    subjects: { name: string; namespace: string }[];
  };
  return `${kind} ${place} -> ${roleRef.kind} ${roleRef.name} for ${
    subjects.map(({ name, namespace }) => `${namespace}/${name}`).join(" ")
  }`;
}
