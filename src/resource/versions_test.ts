import assert from "node:assert/strict";
import { s } from "../schema/mod.ts";
import { resource } from "./mod.ts";

const NAMES = { group: "demo.example.com", kind: "Note" } as const;
const V1 = resource({ ...NAMES, version: "v1", spec: s.object({ text: s.string() }), deprecated: true });
const V1Beta1 = resource({ ...NAMES, version: "v1beta1", spec: s.object({ text: s.string() }), served: false });
// deno-lint-ignore no-explicit-any -- JavaScript code is not type-checked
const any = (value: unknown): any => value;

Deno.test("resource combines all versions in one definition, and stores the one that lists the others", () => {
  const Note = resource({
    ...NAMES,
    version: "v2",
    shortNames: ["no"],
    spec: s.object({ text: s.string(), author: s.optional(s.string()) }),
    versions: [V1, V1Beta1],
  });

  const { versions, conversion, names } = Note.crd.spec;
  assert.deepEqual(versions.map(({ schema: _, ...version }) => version), [
    { name: "v2", served: true, storage: true },
    { name: "v1", served: true, storage: false, deprecated: true },
    { name: "v1beta1", served: false, storage: false },
  ]);
  assert.deepEqual(
    versions.map(({ schema }) => Object.keys(schema.openAPIV3Schema.properties?.["spec"]?.properties ?? {})),
    [
      ["text", "author"],
      ["text"],
      ["text"],
    ],
  );
  assert.deepEqual(conversion, { strategy: "None" });
  assert.deepEqual(names.shortNames, ["no"]);
  assert.equal(Note.apiVersion, "demo.example.com/v2");
  assert.equal(V1.crd.spec.versions.length, 1);
  assert.equal(V1.crd.spec.conversion, undefined);
});

Deno.test("resource stores the configured version", () => {
  const Note = resource({
    ...NAMES,
    version: "v2",
    spec: s.object({ text: s.string() }),
    versions: [V1],
    storage: "v1",
  });

  assert.deepEqual(Note.crd.spec.versions.map(({ name, storage }) => [name, storage]), [["v2", false], ["v1", true]]);
});

Deno.test("resource includes the versions that a listed version lists, without duplicates", () => {
  const V2 = resource({ ...NAMES, version: "v2", spec: s.object({ text: s.string() }), versions: [V1] });
  const V3 = resource({ ...NAMES, version: "v3", spec: s.object({ text: s.string() }), versions: [V2, V1] });

  assert.deepEqual(V3.crd.spec.versions.map(({ name, storage }) => [name, storage]), [
    ["v3", true],
    ["v2", false],
    ["v1", false],
  ]);
});

Deno.test("resource sets the warning of a deprecated version", () => {
  const Old = resource({ ...NAMES, version: "v1", deprecated: "take v2, before v1 goes in June" });

  const [{ deprecated, deprecationWarning } = {} as never] = Old.crd.spec.versions;
  assert.deepEqual([deprecated, deprecationWarning], [true, "take v2, before v1 goes in June"]);
});

Deno.test("resource sets labels and annotations of the definition", () => {
  const Note = resource({ ...NAMES, version: "v1", labels: { team: "web" }, annotations: { "a.example/b": "c" } });

  assert.deepEqual(Note.crd.metadata, {
    name: "notes.demo.example.com",
    labels: { team: "web" },
    annotations: { "a.example/b": "c" },
  });
});

const two = {
  spec: s.object({ text: s.string(), size: s.integer() }),
  selectableFields: [".spec.text", ".spec.size"],
} as const;

Deno.test("resource changes the order of selectable fields if a server would reject equal ones", () => {
  const Old = resource({ ...NAMES, ...two, version: "v1" });
  const Note = resource({
    ...NAMES,
    ...two,
    version: "v2",
    spec: s.object({ text: s.string(), size: s.integer(), author: s.optional(s.string()) }),
    versions: [Old],
  });

  assert.deepEqual(
    Note.crd.spec.versions.map(({ selectableFields }) => selectableFields?.map(({ jsonPath }) => jsonPath)),
    [
      [".spec.text", ".spec.size"],
      [".spec.size", ".spec.text"],
    ],
  );
});

const text = s.object({ text: s.string() });
const more = s.object({ text: s.string(), more: s.optional(s.string()) });
const selectable = { selectableFields: [".spec.text"] } as const;
const INVALID: readonly { name: string; given: () => unknown; expected: string }[] = [
  {
    name: "a version that is not from resource()",
    given: () => resource({ ...NAMES, version: "v2", spec: text, versions: [{ ...NAMES, version: "v1" } as never] }),
    expected: "versions[0] is not a kind from resource(). Declare it with the same group, kind and scope",
  },
  {
    name: "another kind as a version",
    given: () =>
      resource({
        ...NAMES,
        version: "v2",
        plural: "notes",
        versions: [any(resource({ ...NAMES, kind: "Memo", plural: "notes", version: "v1" }))],
      }),
    expected: 'version "v1" has the kind "Memo", this one "Note". Use the same value in both',
  },
  {
    name: "a version with another scope",
    given: () =>
      resource({ ...NAMES, version: "v2", versions: [resource({ ...NAMES, version: "v1", scope: "Cluster" })] }),
    expected: 'version "v1" has the scope "Cluster", this one "Namespaced". Use the same value in both',
  },
  {
    name: "a version with another plural",
    given: () =>
      resource({ ...NAMES, version: "v2", versions: [resource({ ...NAMES, version: "v1", plural: "papers" })] }),
    expected: 'version "v1" has the plural "papers", this one "notes". Use the same value in both',
  },
  {
    name: "a version with other short names",
    given: () =>
      resource({
        ...NAMES,
        version: "v2",
        shortNames: ["no"],
        versions: [resource({ ...NAMES, version: "v1", shortNames: ["nt"] })],
      }),
    expected: 'version "v1" has the shortNames ["nt"], this one ["no"]. Use the same value in both',
  },
  {
    name: "a duplicate version",
    given: () =>
      resource({ ...NAMES, version: "v1", spec: more, versions: [resource({ ...NAMES, version: "v1", spec: text })] }),
    expected: 'version "v1" is listed twice with different definitions. List each version once in "versions"',
  },
  {
    name: "an unknown stored version",
    given: () => resource({ ...NAMES, version: "v2", spec: text, versions: [V1], storage: "v3" }),
    expected: '"storage" must be one of its versions, "v2", "v1", got "v3"',
  },
  {
    name: "one selectable field of two versions with different schemas",
    given: () =>
      resource({
        ...NAMES,
        version: "v2",
        spec: more,
        ...selectable,
        versions: [resource({ ...NAMES, version: "v1", spec: text, ...selectable })],
      }),
    expected:
      'an API server does not accept ".spec.text" as the only selectable field of versions with different schemas. ' +
      'Omit "selectableFields" in one of them, or add a second field',
  },
  {
    name: "selectable fields in one of two versions with equal schemas",
    given: () =>
      resource({
        ...NAMES,
        version: "v2",
        spec: text,
        ...selectable,
        versions: [resource({ ...NAMES, version: "v1", spec: text })],
      }),
    expected:
      "an API server accepts versions with equal schemas only with equal selectable fields. Declare them in all versions",
  },
  {
    name: "an own kind as a version of an external one",
    given: () =>
      resource({ ...NAMES, version: "v2", external: true, versions: [resource({ ...NAMES, version: "v1" })] }),
    expected: 'version "v1" is not external, this one is. Set "external" to the same value in both',
  },
  {
    name: "an external kind as a version of an own one",
    given: () =>
      resource({ ...NAMES, version: "v2", versions: [resource({ ...NAMES, version: "v1", external: true })] }),
    expected: 'version "v1" is external, this one is not. Set "external" to the same value in both',
  },
  {
    name: "an empty warning",
    given: () => resource({ ...NAMES, version: "v1", deprecated: " " }),
    expected: '"deprecated" must have 1 to 256 bytes, got 1',
  },
  {
    name: "a warning of two lines",
    given: () => resource({ ...NAMES, version: "v1", deprecated: "a\nb" }),
    expected: '"deprecated" must be one line of printable characters, got "\\n"',
  },
];
for (const { name, given, expected } of INVALID) {
  Deno.test(`resource rejects ${name}`, () => {
    assert.throws(given, { name: "TypeError", message: `Cannot define kind "Note": ${expected}` });
  });
}
