import assert from "node:assert/strict";
import { ConfigMap, Deployment, Namespace, Secret } from "../kinds/mod.ts";
import { access } from "../parts/access.ts";
import { type Controller, controller } from "../parts/controller.ts";
import { watch } from "../parts/watch.ts";
import { resource } from "../resource/mod.ts";
import { s } from "../schema/mod.ts";
import { rbacRulesOf } from "./rbac.ts";

const OWN = { group: "demo.example.com", version: "v1", spec: s.object({}) } as const;
const Note = resource({ ...OWN, kind: "Note", status: s.object({}) });
const Plain = resource({ ...OWN, kind: "Plain" });
const External = resource({ ...OWN, kind: "External", external: true, status: s.object({}) });
const reconcile = () => {};

const CASES: readonly { name: string; part: Controller; expected: readonly string[] }[] = [
  {
    name: "permits watching an own kind, removing an earlier finalizer and writing the status",
    part: controller(Note, { reconcile }),
    expected: ["list notes", "watch notes", "patch notes", "patch notes/status"],
  },
  {
    name: "does not permit writing the status of a kind without one",
    part: controller(Plain, { reconcile }),
    expected: ["list plains", "watch plains", "patch plains"],
  },
  {
    name: "permits only watching a built-in kind",
    part: controller(Namespace, { reconcile }),
    expected: ["list namespaces", "watch namespaces"],
  },
  {
    name: "permits adding a finalizer to a built-in kind with cleanup",
    part: controller(Namespace, { reconcile, cleanup() {} }),
    expected: ["list namespaces", "watch namespaces", "patch namespaces"],
  },
  {
    name: "permits only watching an external kind",
    part: controller(External, { reconcile }),
    expected: ["list externals", "watch externals"],
  },
  {
    name: "permits writing the status of an external kind with writesStatus",
    part: controller(External, { writesStatus: true, reconcile }),
    expected: ["list externals", "watch externals", "patch externals/status"],
  },
  {
    name: "permits writing the status of a built-in kind with writesStatus",
    part: controller(Namespace, { writesStatus: true, reconcile }),
    expected: ["list namespaces", "watch namespaces", "patch namespaces/status"],
  },
  {
    name: "permits watching and applying owned kinds and setting owner references, but not deleting",
    part: controller(Plain, { owns: [Deployment], reconcile }),
    expected: [
      "list plains",
      "watch plains",
      "patch plains",
      "update plains/finalizers",
      "list apps/deployments",
      "watch apps/deployments",
      "create apps/deployments",
      "patch apps/deployments",
    ],
  },
  {
    name: "permits watching the kinds in reads",
    part: controller(Namespace, { reads: [ConfigMap], reconcile }),
    expected: ["list namespaces", "watch namespaces", "list configmaps", "watch configmaps"],
  },
  {
    name: "permits deleting owned objects with prune",
    part: controller(Namespace, { owns: [ConfigMap], prune: true, reconcile }),
    expected: [
      "list namespaces",
      "watch namespaces",
      "update namespaces/finalizers",
      "list configmaps",
      "watch configmaps",
      "create configmaps",
      "patch configmaps",
      "delete configmaps",
    ],
  },
  {
    name: "permits watching the kinds in watches, each once",
    part: controller(Namespace, {
      reads: [ConfigMap],
      watches: [watch(ConfigMap, { labelSelector: "a=b" }), watch(Secret, { map: () => undefined })],
      reconcile,
    }),
    expected: [
      "list namespaces",
      "watch namespaces",
      "list configmaps",
      "watch configmaps",
      "list secrets",
      "watch secrets",
    ],
  },
  {
    name: "permits the verbs in uses, each once",
    part: controller(Namespace, { uses: [access(Secret, "get"), access(Namespace, "list", "delete")], reconcile }),
    expected: ["list namespaces", "watch namespaces", "get secrets", "delete namespaces"],
  },
];

for (const { name, part, expected } of CASES) {
  Deno.test(`rbacRulesOf ${name}`, () => {
    const rules = rbacRulesOf({ part }).map(({ group, resource, verb }) =>
      `${verb} ${group === "" || group === OWN.group ? "" : `${group}/`}${resource}`
    );
    assert.deepEqual(rules, expected);
  });
}

Deno.test("rbacRulesOf returns the scope, part and reason of each rule", () => {
  const parts = { notes: controller(Note, { reconcile }), spaces: controller(Namespace, { reads: [Note], reconcile }) };
  const rules = rbacRulesOf(parts, { lease: { name: "shop" } }).map((
    { verb, resource, resourceNames: names, scope, part, reason },
  ) => `${part ?? "operator"}: ${verb} ${resource} ${names} ${scope}: ${reason}`);
  assert.deepEqual(rules, [
    "notes: list notes  watched: watches its own kind Note",
    "notes: watch notes  watched: watches its own kind Note",
    "notes: patch notes  watched: removes the finalizer that an earlier version added to Note",
    "notes: patch notes/status  watched: writes the status of Note",
    "spaces: list namespaces  cluster: watches its own kind Namespace",
    "spaces: watch namespaces  cluster: watches its own kind Namespace",
    "spaces: list notes  watched: reads Note",
    "spaces: watch notes  watched: reads Note",
    "operator: create leases  own: elects its leader",
    "operator: get leases shop own: elects its leader",
    "operator: patch leases shop own: elects its leader",
  ]);
});

Deno.test("rbacRulesOf limits rules to the namespaces of a watch and of the election, but not those of direct calls", () => {
  const part = controller(Namespace, {
    watches: [watch(Secret, { namespaces: ["a", "b"], map: () => undefined })],
    uses: [access(Secret, "get")],
    reconcile,
  });
  const rules = rbacRulesOf({ part }, { lease: { name: "shop", namespace: "ops" } }).map((
    { verb, resource, namespaces },
  ) => `${verb} ${resource}${namespaces === undefined ? "" : ` in ${namespaces}`}`);
  assert.deepEqual(rules, [
    "list namespaces",
    "watch namespaces",
    "list secrets in a,b",
    "watch secrets in a,b",
    "get secrets",
    "create leases in ops",
    "get leases in ops",
    "patch leases in ops",
  ]);
});

Deno.test("rbacRulesOf permits Events in the namespaces of their objects", () => {
  const eventsOf = (...parts: Controller[]) =>
    rbacRulesOf(Object.fromEntries(parts.entries()), { events: true }).filter(({ resource }) => resource === "events")
      .map(({ verb, namespaces }) => `${verb}${namespaces === undefined ? "" : ` in ${namespaces}`}`);
  const notes = controller(Note, { reconcile });
  const spaces = controller(Namespace, { reconcile });
  const some = controller(Plain, { watches: [watch(Plain, { namespaces: ["a", "b"] })], reconcile });
  assert.deepEqual(eventsOf(notes), ["create", "patch"]);
  assert.deepEqual(eventsOf(spaces), ["create in default", "patch in default"]);
  assert.deepEqual(eventsOf(notes, some), ["create", "create in a,b", "patch", "patch in a,b"]);
  assert.deepEqual(eventsOf(some), ["create in a,b", "patch in a,b"]);
});
