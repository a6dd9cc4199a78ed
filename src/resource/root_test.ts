/** Fields in addition to metadata, spec and status. */
import assert from "node:assert/strict";
import { s } from "../schema/mod.ts";
import { type Infer, type Input, type Kind, type KubeObject, resource } from "./mod.ts";
import { applyDefaults, validate } from "./validation.ts";

const NAMES = { group: "demo.example.com", version: "v1", kind: "Settings" } as const;

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
function same<A, B>(_: Same<A, B>): void {}

const Settings = resource({
  ...NAMES,
  description: "Settings of a site.",
  root: s.object({
    data: s.map(s.string({ maxLength: 10 })),
    size: s.integer({ default: 1 }),
    sealed: s.optional(s.boolean()),
  }, { validations: [{ rule: "self.size < 5" }] }),
  validations: [{ rule: "self.size != 3" }],
  columns: { Size: ".size", Color: ".data.color" },
  selectableFields: [".size"],
});

Deno.test("resource adds root properties to the schema, columns and selectable fields", () => {
  const [version] = Settings.crd.spec.versions;
  assert.deepEqual(version, {
    name: "v1",
    served: true,
    storage: true,
    schema: {
      openAPIV3Schema: {
        type: "object",
        description: "Settings of a site.",
        properties: {
          data: { type: "object", additionalProperties: { type: "string", maxLength: 10 } },
          size: { type: "integer", default: 1 },
          sealed: { type: "boolean" },
        },
        required: ["data"],
        "x-kubernetes-validations": [{ rule: "self.size < 5" }, { rule: "self.size != 3" }],
      },
    },
    additionalPrinterColumns: [
      { name: "Size", type: "integer", jsonPath: ".size" },
      { name: "Color", type: "string", jsonPath: ".data.color" },
    ],
    selectableFields: [{ jsonPath: ".size" }],
  });
});

Deno.test("Infer and Input contain root properties", () => {
  same<keyof Infer<typeof Settings>, "apiVersion" | "kind" | "metadata" | "data" | "size" | "sealed">(true);
  same<Infer<typeof Settings>["size"], number>(true);
  ({ data: { color: "red" } }) satisfies Input<typeof Settings>;
  ({ metadata: { name: "a" }, kind: "Settings", data: {}, size: undefined }) satisfies Input<typeof Settings>;
  // @ts-expect-error data is required
  ({ size: 1 }) satisfies Input<typeof Settings>;
  // @ts-expect-error the kind has no spec
  ({ data: {}, spec: {} }) satisfies Input<typeof Settings>;
  Settings satisfies Kind<KubeObject>;
});

Deno.test("a kind may have a root in addition to spec and status", () => {
  const Both = resource({
    ...NAMES,
    spec: s.object({ replicas: s.integer() }),
    status: s.object({ ready: s.integer() }),
    root: s.object({ note: s.optional(s.string()) }),
    columns: { Note: ".note" },
    scale: { specReplicas: ".spec.replicas", statusReplicas: ".status.ready" },
  });
  const { properties = {}, required } = Both.crd.spec.versions[0]!.schema.openAPIV3Schema;
  assert.deepEqual([Object.keys(properties), required], [["spec", "status", "note"], ["spec"]]);
  same<keyof Infer<typeof Both>, "apiVersion" | "kind" | "metadata" | "spec" | "status" | "note">(true);
  ({ spec: { replicas: 1 }, note: "a" }) satisfies Input<typeof Both>;
});

Deno.test("a root may require exactly one of several properties", () => {
  const One = resource({
    ...NAMES,
    root: s.exactlyOneOf(s.object({ git: s.optional(s.string()), image: s.optional(s.string()) }), ["git", "image"]),
  });
  ({ git: "a" }) satisfies Input<typeof One>;
  // @ts-expect-error git and image exclude each other
  ({ git: "a", image: "b" }) satisfies Input<typeof One>;
  assert.equal(validate(One, { git: "a", image: "b" }).length, 1);
});

Deno.test("metadata in a root may restrict names without changing types", () => {
  const One = resource({
    ...NAMES,
    root: s.object({ metadata: s.object({ name: s.string({ pattern: "^default$" }) }), on: s.boolean() }),
  });
  same<Infer<typeof One>["metadata"], Infer<typeof Settings>["metadata"]>(true);
  ({ on: true }) satisfies Input<typeof One>;
  assert.deepEqual(validate(One, { metadata: { name: "other" }, on: true }).map(({ field }) => field), [
    "metadata.name",
  ]);
  assert.deepEqual(validate(One, { metadata: { name: "default" }, on: true }), []);
});

Deno.test("a root that preserves unknown fields has them in its types, and accepts any path", () => {
  const Open = resource({
    ...NAMES,
    root: s.object({ size: s.integer() }, { preserveUnknownFields: true }),
    columns: { Size: ".size", Rest: ".what.ever[0]" },
  });
  same<Infer<typeof Open>["size"], number>(true);
  same<Infer<typeof Open>["what"], unknown>(true);
  ({ size: 1, what: { ever: [1] } }) satisfies Input<typeof Open>;
  const given = { size: 1, what: { ever: [1] } };
  assert.deepEqual(applyDefaults(Open, given), { apiVersion: "demo.example.com/v1", kind: "Settings", ...given });
});

Deno.test("validate and applyDefaults process root properties", () => {
  const given = { metadata: { name: "a" }, data: { color: "red" } };
  assert.equal(applyDefaults(Settings, given).size, 1);
  assert.deepEqual(validate(Settings, given), []);
  assert.deepEqual(validate(Settings, { ...given, size: 3 }).map(({ message }) => message), [
    "Invalid value: failed rule: self.size != 3",
  ]);
  assert.deepEqual(validate(Settings, { data: { color: "01234567890" } }).map(({ field }) => field), [
    "data.color",
    "<nil>", // the server reports that rules were not evaluated
  ]);
});

Deno.test("a status may be an ordinary root property, or a subresource with its schema in the root", () => {
  const root = s.object({
    status: s.optional(s.object({ parents: s.array(s.string()) })),
    ready: s.optional(s.boolean()),
  });
  const [Plain, Whole, Alone] = [
    resource({ ...NAMES, root, columns: { First: ".status.parents[0]" } }),
    resource({ ...NAMES, root, status: true }),
    resource({ ...NAMES, status: true, root: s.object({}, { preserveUnknownFields: true }) }),
  ];
  same<Infer<typeof Whole>["status"], { readonly parents: readonly string[] } | undefined>(true);
  same<Infer<typeof Plain>, Infer<typeof Whole>>(true);
  const versions = [Plain, Whole, Alone].map(({ crd }) => crd.spec.versions[0]!);
  assert.deepEqual(versions.map(({ subresources }) => subresources), [undefined, { status: {} }, { status: {} }]);
  const status = {
    type: "object",
    properties: { parents: { type: "array", items: { type: "string" } } },
    required: ["parents"],
  };
  assert.deepEqual(versions.map(({ schema }) => schema.openAPIV3Schema.properties?.status), [
    status,
    status,
    undefined,
  ]);
});

Deno.test("resource rejects a root that repeats an option, is optional, or is invalid for a server", () => {
  const empty = s.object({});
  const rejected: readonly { given: Record<string, unknown>; expected: string }[] = [
    {
      given: { spec: empty, root: s.object({ spec: empty }) },
      expected: '"spec" is declared twice, as an option and in "root". Remove one of them',
    },
    {
      given: { root: s.optional(empty) },
      expected: '"root" is the object itself, which is always present. Remove s.optional() or the default',
    },
    { given: { root: s.string() }, expected: '"root" must be the schema of an object. Use s.object()' },
    {
      given: { root: s.object({ data: s.string() }), columns: { Date: ".date" } },
      expected: 'the path ".date" of column "Date" is not in the schema: it must start with ".data" or ".metadata"',
    },
    {
      given: { root: s.map(s.string()) },
      expected:
        'an API server would reject "additionalProperties" of the whole object: Forbidden: must not be used at the root',
    },
    {
      given: { root: s.object({}, { minProperties: 5 }), status: empty },
      expected: "an API server would reject the whole object: only [Description Type Format Title Maximum " +
        "ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf " +
        "Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at the " +
        "root of the schema if the status subresource is enabled",
    },
    {
      given: { root: s.object({ metadata: s.object({ labels: s.map(s.string()) }) }) },
      expected: "an API server would reject .metadata: Forbidden: must not specify anything other than name and " +
        "generateName, but metadata is implicitly specified",
    },
  ];
  for (const { given, expected } of rejected) {
    assert.throws(
      () => resource({ ...NAMES, ...given } as never),
      { message: `Cannot define kind "Settings": ${expected}` },
    );
  }
});
