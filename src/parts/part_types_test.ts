import assert from "node:assert/strict";
import { ConfigMap, Namespace, Pod, Secret } from "../kinds/mod.ts";
import { resource } from "../resource/resource.ts";
import { s } from "../schema/mod.ts";
import { access } from "./access.ts";
import { controller, type Part } from "./controller.ts";
import { conversion } from "./conversion.ts";
import { on } from "./handlers/on.ts";
import { compile, type DeclaredKinds, PART_TYPES, partTypeOf } from "./part_types.ts";
import { describeRule } from "./rbac.ts";
import type { SandboxPermissions } from "./sandbox.ts";
import { needsRunner, UNIT_TYPES, unitRbacRules, type Units, withoutRunners } from "./units.ts";
import { watch } from "./watch.ts";
import { webhook } from "./webhook.ts";

const names = { group: "notes.example.com", kind: "Note", spec: s.object({ text: s.string() }) };
const NoteV1 = resource({ ...names, version: "v1" });
const Note = resource({ ...names, version: "v2", versions: [NoteV1] });

interface Case {
  readonly part: Part;
  readonly kinds: DeclaredKinds;
  readonly sandbox: SandboxPermissions;
  /** The units of the part, whose key is `part`. */
  readonly units: { readonly [T in keyof Units]: readonly string[] };
  readonly rbac: readonly string[];
}

/** The RBAC permissions for the kinds that the controller and the handler of the cases declare. */
const DECLARED_RULES = [
  "update notes.notes.example.com/finalizers",
  "list configmaps",
  "watch configmaps",
  "create configmaps",
  "patch configmaps",
  "list secrets",
  "watch secrets",
];

const NO_UNITS = { controllers: [], webhooks: [], conversions: [] };

// The compiler rejects this list if a type of parts has no case.
const CASES: { readonly [T in Part["part"]]: Case & { readonly part: Part & { readonly part: T } } } = {
  controller: {
    part: controller(Note, {
      owns: [ConfigMap],
      reads: [Secret],
      uses: [access(Pod, "get")],
      watches: [watch(Namespace, { map: () => [] })],
      sandbox: { net: ["store.example.com"] },
      reconcile() {},
    }),
    kinds: { own: [Note], owned: [ConfigMap], read: [Secret], watched: [Namespace], used: [Pod] },
    sandbox: { net: ["store.example.com"] },
    units: { ...NO_UNITS, controllers: ["part"] },
    rbac: [
      "list notes.notes.example.com",
      "watch notes.notes.example.com",
      "patch notes.notes.example.com",
      ...DECLARED_RULES,
      "list namespaces",
      "watch namespaces",
      "get pods",
    ],
  },
  handler: {
    part: on.create(Note, () => {}, {
      owns: [ConfigMap],
      reads: [Secret],
      uses: [access(Pod, "get")],
      sandbox: { net: ["store.example.com"] },
    }),
    kinds: { own: [Note], owned: [ConfigMap], read: [Secret], watched: [], used: [Pod] },
    sandbox: { net: ["store.example.com"] },
    units: { ...NO_UNITS, controllers: ["handlers/notes.notes.example.com"] },
    rbac: [
      "list notes.notes.example.com",
      "watch notes.notes.example.com",
      "patch notes.notes.example.com",
      ...DECLARED_RULES,
      "get pods",
    ],
  },
  webhook: {
    part: webhook(Note, {
      reads: [Secret],
      uses: [access(Pod, "get")],
      sandbox: { read: ["/etc/rules"] },
      validate() {},
    }),
    kinds: { own: [Note], owned: [], read: [Secret], watched: [], used: [Pod] },
    sandbox: { read: ["/etc/rules"] },
    units: { ...NO_UNITS, webhooks: ["part"] },
    rbac: ["list secrets", "watch secrets", "get pods"],
  },
  conversion: {
    part: conversion(NoteV1, Note, { up: ({ spec }) => ({ spec }), down: ({ spec }) => ({ spec }) }),
    kinds: { own: [Note, NoteV1], owned: [], read: [], watched: [], used: [] },
    sandbox: {},
    units: { ...NO_UNITS, conversions: ["part"] },
    rbac: [],
  },
};

for (const [type, { part, kinds, sandbox, units, rbac }] of Object.entries(CASES)) {
  Deno.test(`the table of part types describes the kinds, sandbox, units and RBAC permissions of a ${type}`, () => {
    assert.deepEqual(partTypeOf(part).kinds(part), kinds);
    assert.deepEqual(partTypeOf(part).sandbox(part), sandbox);
    const compiled = compile({ part });
    assert.deepEqual(
      Object.fromEntries(Object.entries(compiled).map(([name, some]) => [name, [...some.keys()]])),
      units,
    );
    assert.deepEqual(
      unitRbacRules(compiled).map(([key, rule]) => `${key}: ${describeRule(rule)}`),
      rbac.map((rule) => `${Object.values(units).flat()[0]}: ${rule}`),
    );
  });
}

Deno.test("compile keeps the order of the parts among units of a type", () => {
  const { controller, webhook } = CASES;
  const units = compile({ b: controller.part, c: webhook.part, a: { ...controller.part } });
  assert.deepEqual([...units.controllers.keys()], ["b", "a"]);
  assert.equal(units.webhooks.get("c"), webhook.part);
});

Deno.test("withoutRunners removes the units of a component, which then is not needed", () => {
  const units = compile(Object.fromEntries(Object.entries(CASES).map(([key, { part }]) => [key, part])));
  for (const runner of ["controllerLoop", "webhookServer"] as const) {
    const other = runner === "controllerLoop" ? "webhookServer" : "controllerLoop";
    assert(needsRunner(units, runner));
    assert(!needsRunner(withoutRunners(units, [runner]), runner));
    assert(needsRunner(withoutRunners(units, [runner]), other));
  }
});

// Types: the tables do not compile if a type has no entry.
{
  const { conversion: _, ...types } = PART_TYPES;
  // @ts-expect-error the entry of conversions is missing
  types satisfies typeof PART_TYPES;
  const { webhooks: __, ...unitTypes } = UNIT_TYPES;
  // @ts-expect-error the entry of webhooks is missing
  unitTypes satisfies typeof UNIT_TYPES;
}
