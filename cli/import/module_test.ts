import assert from "node:assert/strict";
import { resource, s } from "@op/sdk";
import type { JsonSchema } from "@op/sdk/resource";
import { definitionOf, HEADER, site } from "./_definition_of.ts";
import { definitionsIn } from "../definitions/definition.ts";
import { kubernetesSchemas } from "./known_schemas.ts";
import { lossesOf } from "./losses.ts";
import { moduleOf } from "./module.ts";

const STRING: JsonSchema = { type: "string" };
Deno.test("moduleOf() writes all properties of a kind", () => {
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
  external: true,
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

Deno.test("moduleOf() writes a repeated schema as a constant, and adds the keywords of each use", () => {
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

Deno.test("moduleOf() writes keywords that all uses share with the constant", () => {
  const link = { ...LINK, description: "A link." };
  const definition = definitionOf({ type: "object", properties: { a: link, b: link }, required: ["a"] });
  assert.equal(
    moduleOf([definition]).text,
    `${HEADER}
const a = s.object({ url: s.string(), title: s.optional(s.string()) }, { description: "A link." });

${site("spec: s.object({ a, b: s.optional(a) }),")}`,
  );
});

Deno.test("moduleOf() distinguishes constants of the same name by their parents", () => {
  const other: JsonSchema = { type: "object", properties: { path: STRING, title: STRING }, required: ["path"] };
  const inner = (link: JsonSchema): JsonSchema => ({ type: "object", properties: { link, again: link } });
  const definition = definitionOf({ type: "object", properties: { top: inner(LINK), default: inner(other) } });
  const { text } = moduleOf([definition]);
  assert.match(text, /^const link = s\.object\(\{ url/m);
  assert.match(text, /^const defaultLink = s\.object\(\{ path/m);
});

/** Schemas that are used under several names, and the name of their constant. */
const NAMING_CASES: readonly { readonly name: string; readonly given: JsonSchema; readonly expected: string }[] = [
  {
    name: "after the words that end all property names",
    given: { type: "object", properties: { homeLink: LINK, lastLink: LINK, "next-link": LINK } },
    expected: "link",
  },
  {
    name: "after the most common property name",
    given: {
      type: "object",
      properties: { link: LINK, by: { type: "object", properties: { link: LINK } }, first: LINK },
    },
    expected: "link",
  },
  {
    name: "after the type to which a rule converts it",
    given: {
      type: "object",
      properties: Object.fromEntries(["wait", "limit"].map((name) => [name, {
        type: "string",
        "x-kubernetes-validations": [{ rule: "duration(self) > duration('1s')" }],
      }])),
    },
    expected: "duration",
  },
  {
    name: "after its alternatives",
    given: {
      type: "object",
      properties: Object.fromEntries(["from", "to"].map((name) => [name, {
        type: "object",
        properties: { host: STRING, port: STRING },
        oneOf: [{ required: ["host"] }, { required: ["port"] }],
      }])),
    },
    expected: "hostOrPort",
  },
  {
    name: "after the object that contains it, if the name of that object is a plural",
    given: { type: "object", properties: { links: { type: "object", properties: { home: LINK, last: LINK } } } },
    expected: "link",
  },
  {
    name: "after the first property, if no other name fits",
    given: { type: "object", properties: { home: { type: "object", properties: { top: LINK, last: LINK } } } },
    expected: "top",
  },
];

Deno.test("moduleOf() names a schema that is used by several properties", async (t) => {
  for (const { name, given, expected } of NAMING_CASES) {
    await t.step(name, () => {
      const [, found] = /^const (\w+) = s\./m.exec(moduleOf([definitionOf(given)]).text) ?? [];
      assert.equal(found, expected);
    });
  }
});

Deno.test("moduleOf() writes each version as a kind, and the stored version last, with the names of the others", () => {
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
const site = {
  group: "demo.example.com",
  kind: "Site",
  external: true,
  spec: s.object({ text: s.optional(s.string()) }),
} as const;

export const SiteV1beta1 = resource({ ...site, version: "v1beta1", deprecated: "use v1" });
export type SiteV1beta1 = Infer<typeof SiteV1beta1>;

export const SiteV1alpha1 = resource({ ...site, version: "v1alpha1", deprecated: true, served: false });
export type SiteV1alpha1 = Infer<typeof SiteV1alpha1>;

export const Site = resource({ ...site, version: "v1", shortNames: ["st"], versions: [SiteV1beta1, SiteV1alpha1] });
export type Site = Infer<typeof Site>;
`,
  );
  assert.deepEqual(lossesOf(definition, kinds[0]!.crd), []);
});

Deno.test("moduleOf() writes versions without a common constant if they share only their names", () => {
  const v1 = definitionOf({ type: "object", properties: { text: STRING } });
  const [version] = v1.spec.versions;
  const other = definitionOf({ type: "object", properties: { words: STRING } }).spec.versions[0]!;
  const versions = [version!, { ...other, name: "v1beta1", storage: false }];
  const { text } = moduleOf([{ ...v1, spec: { ...v1.spec, versions } }]);
  assert.match(text, /^export const SiteV1beta1 = resource\(\{\n {2}group: "demo\.example\.com",$/m);
  assert.doesNotMatch(text, /\.\.\./);
});

Deno.test("moduleOf() writes the approval annotation of a community kind in each version", () => {
  const approved = { "api-approved.kubernetes.io": "https://git.example.com/apis/1" };
  const v1 = definitionOf({ type: "object", properties: { text: STRING } }, {
    metadata: { name: "sites.demo.k8s.io", annotations: { ...approved, "example.com/kept": "yes" } },
    spec: { group: "demo.k8s.io" },
  });
  const [version] = v1.spec.versions;
  const versions = [version!, { ...version!, name: "v1beta1", storage: false }];
  const { text, kinds } = moduleOf([{ ...v1, spec: { ...v1.spec, versions } }]);
  assert.equal(text.split("api-approved.kubernetes.io").length - 1, 2);
  assert.deepEqual(kinds[0]!.crd.metadata.annotations, { ...approved, "example.com/kept": "yes" });
});

Deno.test("moduleOf() makes the spec optional if the definition does not require it", () => {
  const definition = definitionOf({ type: "object", properties: { text: STRING } }, { root: { required: [] } });
  const { text, kinds } = moduleOf([definition]);
  assert.match(text, /spec: s\.optional\(s\.object\(\{ text: s\.optional\(s\.string\(\)\) \}\)\),/);
  assert.deepEqual(lossesOf(definition, kinds[0]!.crd), []);
});

Deno.test("moduleOf() marks every version as external unless the operator owns the kind", () => {
  const v1 = definitionOf({ type: "object", properties: { text: STRING } });
  const [version] = v1.spec.versions;
  const versions = [version!, { ...version!, name: "v1beta1", storage: false, deprecated: true }];
  const definition = { ...v1, spec: { ...v1.spec, versions } };
  const given = moduleOf([definition], { own: false });
  assert.equal(given.text, moduleOf([definition]).text);
  assert.equal(given.text.match(/external: true/g)?.length, 1, "common properties of versions are written once");
  const own = moduleOf([definition], { own: true });
  assert.doesNotMatch(own.text, /external/);
  assert.deepEqual(own.kinds[0]!.crd, given.kinds[0]!.crd);
});

Deno.test("moduleOf() distinguishes kinds of the same name by their group", () => {
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

Deno.test("moduleOf() imports types of Kubernetes only if they are exactly the same", async () => {
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

Deno.test("moduleOf() shortens descriptions as the options require", () => {
  const schema = {
    type: "object",
    description: "A list, e.g. of\nhosts. And more.",
    properties: { a: STRING },
  } as const;
  const columns = [{ name: "A", type: "string", jsonPath: ".spec.a", description: "Of it. Not more." }];
  const definition = definitionOf(schema, { version: { additionalPrinterColumns: columns } });
  const text = (descriptions: "none" | "short" | "full") => moduleOf([definition], { descriptions }).text;
  assert(!text("none").includes("description"));
  assert(text("short").includes('columns: { A: { path: ".spec.a", description: "Of it." } }'));
  assert(text("short").includes('{ description: "A list, e.g. of hosts." }'));
  assert(text("full").includes('description: "A list, e.g. of\\n" +\n      "hosts. And more.",'), text("full"));
});

Deno.test("moduleOf() omits conditions that equal those of the SDK", () => {
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

Deno.test("moduleOf() counts the schemas that are written as JSON, and returns their paths", () => {
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

Deno.test("moduleOf() does not depend on the order of keywords", () => {
  const text = (link: JsonSchema) =>
    moduleOf([definitionOf({ type: "object", properties: { a: LINK, b: link } })]).text;
  const reversed = Object.fromEntries(Object.entries(LINK).reverse());
  assert.equal(text(reversed), text(LINK));
  assert.match(text(reversed), /spec: s\.object\(\{ a: s\.optional\(a\), b: s\.optional\(a\) \}\)/);
});
