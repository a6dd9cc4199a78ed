import assert from "node:assert/strict";
import { ConfigMap, Deployment } from "../kinds/mod.ts";
import { controller } from "../parts/controller.ts";
import { resource } from "../resource/mod.ts";
import { s } from "../schema/mod.ts";
import { access } from "../parts/access.ts";
import { watch } from "../parts/watch.ts";
import { crdsOf, externalCrdsOf } from "./crds.ts";

const [A, B, C] = ["Alpha", "Beta", "Gamma"].map((kind) =>
  resource({ group: "demo.example.com", version: "v1", kind, spec: s.object({}) })
) as [ReturnType<typeof kindOf>, ReturnType<typeof kindOf>, ReturnType<typeof kindOf>];

Deno.test("crdsOf returns each kind that is not built in once, in the order of the parts", () => {
  const parts = [
    controller(B, { owns: [ConfigMap, C], reconcile() {} }),
    controller(A, { owns: [B], reads: [Deployment, C], reconcile() {} }),
    controller(ConfigMap, { reconcile() {} }),
  ];
  assert.deepEqual(crdsOf(parts).map(({ metadata }) => metadata.name), [
    "betas.demo.example.com",
    "gammas.demo.example.com",
    "alphas.demo.example.com",
  ]);
  assert.equal(crdsOf(parts)[0], B.crd);
});

Deno.test("crdsOf returns an empty list if all kinds are built in", () => {
  assert.deepEqual(crdsOf([controller(ConfigMap, { reconcile() {} })]), []);
});

Deno.test("crdsOf omits external kinds, and externalCrdsOf returns each of them once", () => {
  const other = <Name extends string>(kind: Name) =>
    resource({ group: "other.example.com", version: "v1", kind, external: true, spec: s.object({}) });
  const [Reconciled, Applied, Read, Watched, Used] = [
    other("Reconciled"),
    other("Applied"),
    other("Read"),
    other("Watched"),
    other("Used"),
  ] as const;
  const parts = [
    controller(Reconciled, {
      owns: [Applied, A],
      reads: [Read],
      watches: [watch(Watched, { map: () => [] })],
      uses: [access(Used, "get")],
      reconcile() {},
    }),
    controller(A, { reads: [Read], reconcile() {} }),
  ];
  assert.deepEqual(crdsOf(parts), [A.crd]);
  assert.deepEqual(externalCrdsOf(parts), [Reconciled, Applied, Read, Watched, Used].map((kind) => kind.crd));
});

Deno.test("crdsOf rejects a kind that is declared with and without external", () => {
  const names = { group: "demo.example.com", version: "v1", kind: "Alpha", spec: s.object({}) } as const;
  const parts = [resource(names), resource({ ...names, external: true })].map((kind) =>
    controller(kind, { reconcile() {} })
  );
  assert.throws(() => crdsOf(parts), {
    name: "TypeError",
    message:
      /^CustomResourceDefinition "alphas\.demo\.example\.com": the kind is declared both with and without "external/,
  });
});

function kindOf() {
  return resource({ group: "demo.example.com", version: "v1", kind: "Alpha" as string, spec: s.object({}) });
}

const NOTE = { group: "demo.example.com", kind: "Note" } as const;
const NoteV1 = resource({
  ...NOTE,
  version: "v1",
  spec: s.object({ text: s.string(), size: s.integer() }),
  selectableFields: [".spec.text", ".spec.size"],
});
const Note = resource({
  ...NOTE,
  version: "v2",
  shortNames: ["no"],
  spec: s.object({ text: s.string(), size: s.integer(), author: s.optional(s.string()) }),
  selectableFields: [".spec.text", ".spec.size"],
  versions: [NoteV1],
});

Deno.test("crdsOf returns the definition with all versions of a kind, in any order of the parts", () => {
  const old = controller(NoteV1, { reconcile() {} });
  const current = controller(Note, { reconcile() {} });

  assert.deepEqual(crdsOf([old, current]), [Note.crd]);
  assert.deepEqual(crdsOf([current, old]), [Note.crd]);
  assert.deepEqual(crdsOf([old]), [NoteV1.crd]);
});

Deno.test("crdsOf returns the definition with all versions even if the others have no version in common", () => {
  const spec = s.object({ text: s.string() });
  const first = resource({ ...NOTE, version: "v1", spec });
  const second = resource({ ...NOTE, version: "v2", spec });
  const whole = resource({ ...NOTE, version: "v3", spec, versions: [first, second] });
  const parts = [first, second, whole].map((kind) => controller(kind, { reconcile() {} }));

  assert.deepEqual(crdsOf(parts), [whole.crd]);
  assert.deepEqual(crdsOf(parts.toReversed()), [whole.crd]);
  assert.throws(() => crdsOf(parts.slice(0, 2)), TypeError);
});

Deno.test("crdsOf rejects kinds of one name if neither has all versions of the other", () => {
  const Other = resource({ ...NOTE, version: "v3", spec: s.object({}) });
  const parts = [controller(Other, { reconcile() {} }), controller(Note, { reconcile() {} })];

  assert.throws(() => crdsOf(parts), {
    name: "TypeError",
    message: 'CustomResourceDefinition "notes.demo.example.com": two different kinds have this name. ' +
      'Create the kind once and use it twice, or list its other versions in "versions".',
  });
});
