import assert from "node:assert/strict";
import { resource, s } from "@op/sdk";
import type { JsonSchema } from "@op/sdk";
import { definitionOf } from "./_definition_of.ts";
import { definitionsIn } from "./definition.ts";
import { kubernetesSchemas } from "./known_schemas.ts";
import { lossesOf } from "./losses.ts";
import { moduleOf } from "./module.ts";

const HEADER = `/** Site of demo.example.com, from its CustomResourceDefinition by \`op import\`. */
import { type Infer, resource, s } from "@op/sdk";
`;

/** The kind with a spec, in full. */
function site(spec: string): string {
  return `export const Site = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Site",
  ${spec.trim().replaceAll("\n", "\n  ")}
});
export type Site = Infer<typeof Site>;
`;
}

const STRING: JsonSchema = { type: "string" };
const OPTIONAL: { readonly name: string; readonly given: JsonSchema; readonly expected: string }[] = [
  { name: "a string", given: STRING, expected: "s.string()" },
  {
    name: "a string with keywords",
    given: { type: "string", minLength: 1, maxLength: 9, pattern: '^"\\d+"$', description: "Of digits." },
    expected: String.raw`s.string({ description: "Of digits.", minLength: 1, maxLength: 9, pattern: '^"\\d+"$' })`,
  },
  { name: "values", given: { type: "string", enum: ["a", "b"] }, expected: 's.enum(["a", "b"])' },
  { name: "numbers to choose from", given: { type: "integer", enum: [1, 2] }, expected: "s.enum([1, 2])" },
  { name: "one value", given: { type: "string", enum: ["a"] }, expected: 's.literal("a")' },
  {
    name: "values and a length",
    given: { type: "string", enum: ["a", "b"], maxLength: 3 },
    expected: 's.string({ enum: ["a", "b"], maxLength: 3 })',
  },
  { name: "a known format", given: { type: "string", format: "ipv4" }, expected: 's.string({ format: "ipv4" })' },
  { name: "a point of time", given: { type: "string", format: "date-time" }, expected: "s.dateTime()" },
  { name: "a span of time", given: { type: "string", format: "duration" }, expected: "s.duration()" },
  { name: "bytes", given: { type: "string", format: "byte" }, expected: "s.bytes()" },
  {
    name: "a format that servers do not know",
    given: { type: "string", format: "animal" },
    expected: 's.raw({ type: "string", format: "animal" })',
  },
  {
    name: "an integer",
    given: { type: "integer", format: "int64", minimum: -1, maximum: 4294967295 },
    expected: 's.integer({ format: "int64", minimum: -1, maximum: 4_294_967_295 })',
  },
  { name: "a number", given: { type: "number", multipleOf: 0.5 }, expected: "s.number({ multipleOf: 0.5 })" },
  { name: "a boolean", given: { type: "boolean" }, expected: "s.boolean()" },
  {
    name: "null as a choice",
    given: { type: "string", nullable: true, maxLength: 3 },
    expected: "s.nullable(s.string({ maxLength: 3 }))",
  },
  {
    name: "a set",
    given: { type: "array", items: STRING, maxItems: 3, "x-kubernetes-list-type": "set" },
    expected: 's.array(s.string(), { maxItems: 3, listType: "set" })',
  },
  {
    name: "a map",
    given: { type: "object", additionalProperties: STRING, "x-kubernetes-map-type": "atomic" },
    expected: 's.map(s.string(), { mapType: "atomic" })',
  },
  { name: "an object without properties", given: { type: "object" }, expected: "s.object({})" },
  {
    name: "an object",
    given: { type: "object", properties: { a: STRING, "b-c": STRING }, required: ["b-c"], minProperties: 1 },
    expected: 's.object({ a: s.optional(s.string()), "b-c": s.string() }, { minProperties: 1 })',
  },
  {
    name: "an object that keeps what it does not know",
    given: { type: "object", properties: { a: STRING }, "x-kubernetes-preserve-unknown-fields": true },
    expected: "s.object({ a: s.optional(s.string()) }, { preserveUnknownFields: true })",
  },
  {
    name: "any object",
    given: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    expected: 's.anything({ type: "object" })',
  },
  { name: "anything", given: { "x-kubernetes-preserve-unknown-fields": true }, expected: "s.anything()" },
  {
    name: "a whole object of Kubernetes",
    given: {
      type: "object",
      "x-kubernetes-embedded-resource": true,
      "x-kubernetes-preserve-unknown-fields": true,
      description: "Any.",
    },
    expected: 's.embeddedResource({}, { description: "Any." })',
  },
  {
    name: "an integer or a string",
    given: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
    expected: "s.intOrString()",
  },
  {
    name: "a quantity",
    given: s.quantity({ description: "Of it." }),
    expected: 's.quantity({ description: "Of it." })',
  },
  {
    name: "a rule",
    given: { type: "integer", "x-kubernetes-validations": [{ message: "must be even", rule: "self % 2 == 0" }] },
    expected: 's.integer({ validations: [{ rule: "self % 2 == 0", message: "must be even" }] })',
  },
  {
    name: "exactly one of some properties",
    given: {
      type: "object",
      properties: { a: STRING, b: STRING },
      oneOf: [{ required: ["a"] }, { required: ["b"] }],
    },
    expected: `s.exactlyOneOf(
      s.object({ a: s.optional(s.string()), b: s.optional(s.string()) }),
      ["a", "b"],
      { as: "schema" },
    )`,
  },
  {
    name: "at most one of some properties, as generators from protocol buffers say it",
    given: {
      type: "object",
      properties: { a: STRING, b: STRING },
      oneOf: [{ not: { anyOf: [{ required: ["a"] }, { required: ["b"] }] } }, { required: ["a"] }, { required: ["b"] }],
    },
    expected: `s.atMostOneOf(
      s.object({ a: s.optional(s.string()), b: s.optional(s.string()) }),
      ["a", "b"],
      { as: "schema" },
    )`,
  },
  {
    name: "at least one of some properties, and at most one of others",
    given: {
      type: "object",
      properties: { a: STRING, b: STRING, c: STRING, d: STRING },
      anyOf: [{ required: ["a"] }, { required: ["b"] }],
      not: { required: ["c", "d"] },
    },
    expected: `s.atLeastOneOf(
      s.atMostOneOf(
        s.object({
          a: s.optional(s.string()),
          b: s.optional(s.string()),
          c: s.optional(s.string()),
          d: s.optional(s.string()),
        }),
        ["c", "d"],
        { as: "schema" },
      ),
      ["a", "b"],
      { as: "schema" },
    )`,
  },
  {
    name: "exactly one of some properties, by a rule",
    given: s.exactlyOneOf(s.object({ a: s.optional(s.string()), b: s.optional(s.string()) }), ["a", "b"]),
    expected: `s.exactlyOneOf(
      s.object({ a: s.optional(s.string()), b: s.optional(s.string()) }),
      ["a", "b"],
    )`,
  },
  {
    name: "a choice that no builder knows",
    given: { type: "integer", anyOf: [{ maximum: 1 }, { minimum: 5 }] },
    expected: "s.integer({ anyOf: [{ maximum: 1 }, { minimum: 5 }] })",
  },
  {
    name: "what is required and not among the properties",
    given: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { a: STRING }, required: ["b"] },
    expected: `s.object({ a: s.optional(s.string()) }, {
      preserveUnknownFields: true,
      allOf: [{ required: ["b"] }],
    })`,
  },
  {
    name: "a property that never changes, by two rules",
    given: s.object({ a: s.optional(s.immutable(s.string())), b: s.immutable(s.string()) }),
    expected: "s.object({ a: s.optional(s.immutable(s.string())), b: s.immutable(s.string()) })",
  },
  {
    name: "a property that does not change, but may go",
    given: {
      type: "object",
      properties: { a: { ...STRING, "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "no" }] } },
    },
    expected: `s.object({
      a: s.optional(s.string({ validations: [{ rule: "self == oldSelf", message: "no" }] })),
    })`,
  },
];

Deno.test("moduleOf() writes each schema with the builder that makes it", async (t) => {
  for (const { name, given, expected } of OPTIONAL) {
    await t.step(name, () => {
      const definition = definitionOf({ type: "object", properties: { it: given, other: STRING } });
      const { text, kinds } = moduleOf([definition]);
      // Each is alone in an object that is long enough to stand in lines.
      const line = `s.optional(${expected})`;
      assert.equal(
        withoutSpaces(text),
        withoutSpaces(`${HEADER}\n${site(`spec: s.object({ it: ${line}, other: s.optional(s.string()) }),`)}`),
      );
      assert.deepEqual(lossesOf(definition, kinds[0]!.crd), []);
    });
  }
});

/** Line breaks are the printer's. */
function withoutSpaces(text: string): string {
  return text.replaceAll(/\s+/g, "").replaceAll(/,(?=[)\]}])/g, "");
}

Deno.test("moduleOf() writes a kind with all that is said of it", () => {
  const definition = definitionOf({
    type: "object",
    properties: { host: STRING, replicas: { type: "integer", default: 1 } },
    required: ["host"],
  }, {
    names: { plural: "websites", shortNames: ["web"], categories: ["all"] },
    metadata: {
      name: "websites.demo.example.com",
      labels: { team: "a" },
      annotations: { "controller-gen.kubebuilder.io/version": "v0.21.0", "example.com/kept": "yes" },
    },
    spec: { scope: "Cluster" },
    status: { type: "object", properties: { ready: { type: "integer" }, selector: STRING } },
    root: {
      description: "A site.",
      "x-kubernetes-validations": [{ rule: "self.metadata.name != 'a'" }],
    },
    version: {
      subresources: {
        status: {},
        scale: {
          specReplicasPath: ".spec.replicas",
          statusReplicasPath: ".status.ready",
          labelSelectorPath: ".status.selector",
        },
      },
      selectableFields: [{ jsonPath: ".spec.host" }],
      additionalPrinterColumns: [
        { name: "Host", jsonPath: ".spec.host", type: "string" },
        { name: "Ready", jsonPath: ".status.ready", type: "integer", priority: 1, format: "int32", description: "Now" },
        { name: "Age", jsonPath: ".metadata.creationTimestamp", type: "date" },
        { name: "Count", jsonPath: ".status.ready", type: "string" },
      ],
    },
  });
  const { text, kinds } = moduleOf([definition]);
  assert.equal(
    text,
    `${HEADER}
export const Site = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Site",
  plural: "websites",
  shortNames: ["web"],
  categories: ["all"],
  scope: "Cluster",
  labels: { team: "a" },
  annotations: { "example.com/kept": "yes" },
  description: "A site.",
  columns: {
    Host: ".spec.host",
    Ready: { path: ".status.ready", format: "int32", priority: 1, description: "Now" },
    Age: ".metadata.creationTimestamp",
    Count: { path: ".status.ready", type: "string" },
  },
  scale: { specReplicas: ".spec.replicas", statusReplicas: ".status.ready", labelSelector: ".status.selector" },
  selectableFields: [".spec.host"],
  validations: [{ rule: "self.metadata.name != 'a'" }],
  spec: s.object({ host: s.string(), replicas: s.integer({ default: 1 }) }),
  status: s.object({ ready: s.optional(s.integer()), selector: s.optional(s.string()) }),
  conditions: false,
});
export type Site = Infer<typeof Site>;
`,
  );
  assert.deepEqual(lossesOf(definition, kinds[0]!.crd), []);
});

const LINK: JsonSchema = { type: "object", properties: { url: STRING, title: STRING }, required: ["url"] };

Deno.test("moduleOf() writes what stands more than once as a constant, and says of each use what is its own", () => {
  const definition = definitionOf({
    type: "object",
    properties: {
      home: { ...LINK, description: "Where it begins." },
      links: { type: "array", items: LINK },
      last: { ...LINK, nullable: true },
      by: { type: "object", additionalProperties: LINK },
      first: { ...LINK, default: { url: "/" } },
    },
    required: ["links"],
  });
  assert.equal(
    moduleOf([definition]).text,
    `${HEADER}
const link = s.object({ url: s.string(), title: s.optional(s.string()) });

${
      site(`spec: s.object({
  home: s.optional(s.with(link, { description: "Where it begins." })),
  links: s.array(link),
  last: s.optional(s.nullable(link)),
  by: s.optional(s.map(link)),
  first: s.with(link, { default: { url: "/" } }),
}),`)
    }`,
  );
});

Deno.test("moduleOf() writes what all uses say alike with the constant", () => {
  const link = { ...LINK, description: "A link." };
  const definition = definitionOf({ type: "object", properties: { a: link, b: link }, required: ["a"] });
  assert.equal(
    moduleOf([definition]).text,
    `${HEADER}
const a = s.object({ url: s.string(), title: s.optional(s.string()) }, { description: "A link." });

${site("spec: s.object({ a, b: s.optional(a) }),")}`,
  );
});

Deno.test("moduleOf() tells constants of one name apart by what they stand in", () => {
  const other: JsonSchema = { type: "object", properties: { path: STRING, title: STRING }, required: ["path"] };
  const inner = (link: JsonSchema): JsonSchema => ({ type: "object", properties: { link, again: link } });
  const definition = definitionOf({ type: "object", properties: { top: inner(LINK), default: inner(other) } });
  const { text } = moduleOf([definition]);
  assert.match(text, /^const link = s\.object\(\{ url/m);
  assert.match(text, /^const defaultLink = s\.object\(\{ path/m);
});

Deno.test("moduleOf() writes versions as kinds, the stored one last with the names of the others", () => {
  const v1 = definitionOf({ type: "object", properties: { text: STRING } }, { names: { shortNames: ["st"] } });
  const [version] = v1.spec.versions;
  const versions = [
    { ...version!, name: "v1" },
    { ...version!, name: "v1beta1", storage: false, deprecated: true, deprecationWarning: "use v1" },
    { ...version!, name: "v1alpha1", storage: false, served: false, deprecated: true },
  ];
  const definition = { ...v1, spec: { ...v1.spec, versions } };
  const { text, kinds } = moduleOf([definition]);
  assert.equal(
    text,
    `${HEADER}
export const SiteV1beta1 = resource({
  group: "demo.example.com",
  version: "v1beta1",
  kind: "Site",
  deprecated: "use v1",
  spec: s.object({ text: s.optional(s.string()) }),
});
export type SiteV1beta1 = Infer<typeof SiteV1beta1>;

export const SiteV1alpha1 = resource({
  group: "demo.example.com",
  version: "v1alpha1",
  kind: "Site",
  deprecated: true,
  served: false,
  spec: s.object({ text: s.optional(s.string()) }),
});
export type SiteV1alpha1 = Infer<typeof SiteV1alpha1>;

export const Site = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Site",
  shortNames: ["st"],
  spec: s.object({ text: s.optional(s.string()) }),
  versions: [SiteV1beta1, SiteV1alpha1],
});
export type Site = Infer<typeof Site>;
`,
  );
  assert.deepEqual(lossesOf(definition, kinds[0]!.crd), []);
});

Deno.test("moduleOf() tells kinds of one name apart by their group", () => {
  const site = definitionOf({ type: "object" });
  const other = {
    ...site,
    metadata: { name: "sites.other.example.com" },
    spec: { ...site.spec, group: "other.example.com" },
  };
  const { text } = moduleOf([site, other]);
  assert.match(text, /^\/\*\* Site of demo\.example\.com, Site of other\.example\.com, from their/);
  assert.match(text, /^export const Site = /m);
  assert.match(text, /^export const SiteOtherExampleCom = /m);
});

Deno.test("moduleOf() imports types of Kubernetes that are exactly the same, and no others", async () => {
  const { LabelSelector, Toleration } = await import("@op/sdk/schemas/full");
  const { effect: _, ...properties } = Toleration.properties!;
  const definition = definitionOf({
    type: "object",
    properties: {
      pods: { ...LabelSelector, description: "Which pods." } as JsonSchema,
      tolerations: { type: "array", items: { ...Toleration, properties } as JsonSchema },
    },
    required: ["pods"],
  });
  for (const [descriptions, module] of [["none", ""], ["short", "/short"], ["full", "/full"]] as const) {
    const { text, kinds } = moduleOf([definition], { descriptions, known: await kubernetesSchemas(descriptions) });
    assert(text.includes(`import { LabelSelector } from "@op/sdk/schemas${module}";`), text);
    const pods = descriptions === "none" ? "LabelSelector" : 's.with(LabelSelector, { description: "Which pods." })';
    assert(text.includes(`pods: ${pods},`), text);
    assert.deepEqual(lossesOf(definition, kinds[0]!.crd), []);
  }
});

Deno.test("moduleOf() takes over as much of the descriptions as is asked for", () => {
  const schema = {
    type: "object",
    description: "A list, e.g. of\nhosts. And more.",
    properties: { a: STRING },
  } as const;
  const text = (descriptions: "none" | "short" | "full") => moduleOf([definitionOf(schema)], { descriptions }).text;
  assert(!text("none").includes("description"));
  assert(text("short").includes('{ description: "A list, e.g. of hosts." }'));
  assert(text("full").includes('description: "A list, e.g. of\\n" +\n      "hosts. And more.",'), text("full"));
});

Deno.test("moduleOf() leaves conditions to the SDK where they are as the SDK adds them", () => {
  const kind = resource({
    group: "demo.example.com",
    version: "v1",
    kind: "Site",
    spec: s.object({ host: s.string() }),
    status: s.object({ url: s.optional(s.string()) }),
  });
  const [definition] = definitionsIn([kind.crd]);
  const { text, kinds } = moduleOf([definition!]);
  assert.equal(
    text,
    `${HEADER}\n${site("spec: s.object({ host: s.string() }),\nstatus: s.object({ url: s.optional(s.string()) }),")}`,
  );
  assert.deepEqual(kinds[0]!.crd.spec, kind.crd.spec);
});

Deno.test("moduleOf() counts what came through as JSON, and says where it is", () => {
  const definition = definitionOf({
    type: "object",
    properties: {
      odd: { type: "object", additionalProperties: true },
      list: { type: "array", items: { type: "integer", anyOf: [{ maximum: 1 }, { minimum: 5 }] } },
    },
  });
  const [kind] = moduleOf([definition]).kinds;
  assert.deepEqual([kind!.nodes, kind!.raw, kind!.rawPaths], [10, 3, ["Site.spec.odd", "Site.spec.list[*]"]]);
});

Deno.test("moduleOf() makes the same text of what is the same, whatever the order of keywords", () => {
  const text = (link: JsonSchema) =>
    moduleOf([definitionOf({ type: "object", properties: { a: LINK, b: link } })]).text;
  const turned = Object.fromEntries(Object.entries(LINK).reverse());
  assert.equal(text(turned), text(LINK));
  assert.match(text(turned), /spec: s\.object\(\{ a: s\.optional\(a\), b: s\.optional\(a\) \}\)/);
});
