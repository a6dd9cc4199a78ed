import assert from "node:assert/strict";
import { s } from "../schema/mod.ts";
import { type Input, resource } from "./mod.ts";

const Website = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Website",
  spec: s.object({
    host: s.string({ format: "hostname" }),
    replicas: s.integer({ minimum: 0, maximum: 20, default: 1 }),
  }),
  status: s.object({ url: s.optional(s.string()), ready: s.optional(s.integer()) }),
  columns: { Host: ".spec.host", Ready: ".status.ready" },
});

const Cache = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Cache",
  spec: s.object({
    image: s.string({ default: "redis:7" }),
    replicas: s.integer({ minimum: 1, maximum: 20, default: 3 }),
    memory: s.optional(s.string()),
  }),
  status: s.object({ ready: s.optional(s.integer()) }),
});

/** metav1.Condition, as controller-gen generates it. */
const CONDITIONS = {
  type: "array",
  items: {
    type: "object",
    properties: {
      type: {
        type: "string",
        maxLength: 316,
        pattern:
          "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
      },
      status: { type: "string", enum: ["True", "False", "Unknown"] },
      observedGeneration: { type: "integer", format: "int64", minimum: 0 },
      lastTransitionTime: { type: "string", format: "date-time" },
      reason: { type: "string", minLength: 1, maxLength: 1024, pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$" },
      message: { type: "string", maxLength: 32768 },
    },
    required: ["type", "status", "lastTransitionTime", "reason", "message"],
  },
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["type"],
};

Deno.test("resource builds the CustomResourceDefinition of a Website", () => {
  assert.deepEqual(Website.crd, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "websites.demo.example.com" },
    spec: {
      group: "demo.example.com",
      names: { kind: "Website", plural: "websites", singular: "website", listKind: "WebsiteList" },
      scope: "Namespaced",
      versions: [{
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  host: { type: "string", format: "hostname" },
                  replicas: { type: "integer", minimum: 0, maximum: 20, default: 1 },
                },
                required: ["host"],
              },
              status: {
                type: "object",
                properties: {
                  conditions: CONDITIONS,
                  observedGeneration: { type: "integer", format: "int64" },
                  url: { type: "string" },
                  ready: { type: "integer" },
                },
              },
            },
            required: ["spec"],
          },
        },
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: "Host", type: "string", jsonPath: ".spec.host" },
          { name: "Ready", type: "integer", jsonPath: ".status.ready" },
        ],
      }],
    },
  });
});

Deno.test("resource builds the CustomResourceDefinition of a Cache", () => {
  assert.deepEqual(Cache.crd.spec.versions, [{
    name: "v1",
    served: true,
    storage: true,
    schema: {
      openAPIV3Schema: {
        type: "object",
        properties: {
          spec: {
            type: "object",
            properties: {
              image: { type: "string", default: "redis:7" },
              replicas: { type: "integer", minimum: 1, maximum: 20, default: 3 },
              memory: { type: "string" },
            },
          },
          status: {
            type: "object",
            properties: {
              conditions: CONDITIONS,
              observedGeneration: { type: "integer", format: "int64" },
              ready: { type: "integer" },
            },
          },
        },
        required: ["spec"],
      },
    },
    subresources: { status: {} },
  }]);
});

Deno.test("resource returns the names of the kind", () => {
  const { crd: _, ...names } = Website;
  assert.deepEqual(names, {
    group: "demo.example.com",
    version: "v1",
    kind: "Website",
    apiVersion: "demo.example.com/v1",
    plural: "websites",
    singular: "website",
    listKind: "WebsiteList",
    shortNames: [],
    namespaced: true,
  });
});

Deno.test("resource accepts explicit names and the cluster scope", () => {
  const Ox = resource({
    group: "demo.example.com",
    version: "v1alpha1",
    kind: "Ox",
    plural: "oxen",
    singular: "one-ox",
    listKind: "Herd",
    shortNames: ["ox"],
    categories: ["all"],
    scope: "Cluster",
    description: "A strong animal",
  });

  assert.equal(Ox.namespaced, false);
  assert.deepEqual(Ox.shortNames, ["ox"]);
  assert.deepEqual(Ox.crd, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "oxen.demo.example.com" },
    spec: {
      group: "demo.example.com",
      names: {
        kind: "Ox",
        plural: "oxen",
        singular: "one-ox",
        listKind: "Herd",
        shortNames: ["ox"],
        categories: ["all"],
      },
      scope: "Cluster",
      versions: [{
        name: "v1alpha1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", description: "A strong animal" } },
      }],
    },
  });
});

Deno.test("resource makes all properties of a status optional, and keeps declared conditions", () => {
  const Job = resource({
    group: "demo.example.com",
    version: "v1",
    kind: "Job",
    status: s.object({ phase: s.string(), conditions: s.array(s.string()) }),
  });

  assert.deepEqual(Job.crd.spec.versions[0]!.schema.openAPIV3Schema.properties?.["status"], {
    type: "object",
    properties: {
      phase: { type: "string" },
      conditions: { type: "array", items: { type: "string" } },
      observedGeneration: { type: "integer", format: "int64" },
    },
  });
});

Deno.test("resource does not require a spec that has a default", () => {
  const Note = resource({
    group: "demo.example.com",
    version: "v1",
    kind: "Note",
    spec: s.object({ text: s.string({ default: "" }) }, { default: {} }),
  });

  assert.equal(Note.crd.spec.versions[0]!.schema.openAPIV3Schema.required, undefined);
  ({}) satisfies Input<typeof Note>;
});

Deno.test("resource does not require a spec that is optional", () => {
  const Loose = resource({
    group: "demo.example.com",
    version: "v1",
    kind: "Loose",
    spec: s.optional(s.object({ host: s.string() })),
  });
  const { required, properties } = Loose.crd.spec.versions[0]!.schema.openAPIV3Schema;
  assert.equal(required, undefined);
  assert.deepEqual(properties?.spec?.required, ["host"]);
});

Deno.test("resource infers the types of columns", () => {
  const Sample = resource({
    group: "demo.example.com",
    version: "v1",
    kind: "Sample",
    spec: s.object({
      text: s.string(),
      whole: s.integer(),
      part: s.number(),
      on: s.boolean(),
      at: s.string({ format: "date-time" }),
      port: s.intOrString(),
      labels: s.map(s.string()),
      list: s.array(s.object({ name: s.string(), size: s.integer() })),
      rest: s.anything(),
    }),
    status: s.object({}),
    columns: {
      Text: ".spec.text",
      Whole: ".spec.whole",
      Part: ".spec.part",
      On: ".spec.on",
      At: ".spec.at",
      Port: ".spec.port",
      Label: ".spec.labels.app\\.kubernetes\\.io/name",
      Quoted: ".spec.labels['app\\.kubernetes\\.io/name']",
      There: ".spec.list[?(@.name)].size",
      First: ".spec.list[0].size",
      Web: '.spec.list[?(@.name=="web")].size',
      All: ".spec.list[*].name",
      Rest: ".spec.rest.any.thing",
      Ready: '.status.conditions[?(@.type=="Ready")].status',
      Since: { path: '.status.conditions[?(@.type == "Ready")].lastTransitionTime', priority: 1, description: "When" },
      Age: ".metadata.creationTimestamp",
      Generation: { path: ".metadata.generation", type: "string", format: "int64" },
    },
  });

  assert.deepEqual(
    Sample.crd.spec.versions[0]!.additionalPrinterColumns?.map(({ name, type }) => `${name}: ${type}`),
    [
      "Text: string",
      "Whole: integer",
      "Part: number",
      "On: boolean",
      "At: date",
      "Port: string",
      "Label: string",
      "Quoted: string",
      "There: integer",
      "First: integer",
      "Web: integer",
      "All: string",
      "Rest: string",
      "Ready: string",
      "Since: date",
      "Age: date",
      "Generation: string",
    ],
  );
  assert.deepEqual(Sample.crd.spec.versions[0]!.additionalPrinterColumns?.[14], {
    name: "Since",
    type: "date",
    jsonPath: '.status.conditions[?(@.type == "Ready")].lastTransitionTime',
    priority: 1,
    description: "When",
  });
});

Deno.test("resource returns frozen data and does not modify its arguments", () => {
  const shortNames = ["web"];
  const kind = resource({ group: "demo.example.com", version: "v1", kind: "Website", shortNames });

  assert(Object.isFrozen(kind) && Object.isFrozen(kind.shortNames) && Object.isFrozen(kind.crd.spec.versions[0]));
  shortNames.push("site");
  assert.deepEqual(kind.shortNames, ["web"]);
});

Deno.test("resource accepts a community group with an approval, or a reason for its absence", () => {
  for (const approval of ["https://git.example.com/apis/1", "unapproved, an experiment"]) {
    const annotations = { "api-approved.kubernetes.io": approval };
    const Approved = resource({ group: "demo.x.k8s.io", version: "v1", kind: "Website", annotations });
    assert.deepEqual(Approved.crd.metadata.annotations, annotations);
  }
});

const NAMES = { group: "demo.example.com", version: "v1", kind: "Website" };
// deno-lint-ignore no-explicit-any -- JavaScript code is not type-checked
const any = (value: unknown): any => value;

const INVALID: { name: string; given: Record<string, unknown>; expected: string }[] = [
  {
    name: "a kind in lower case",
    given: { kind: "website" },
    expected:
      'TypeError: Cannot define kind "website": "kind" must be in CamelCase with at most 63 letters and digits, got "website"',
  },
  {
    name: "a group without a dot",
    given: { group: "demo" },
    expected:
      'TypeError: Cannot define kind "Website": "group" must be a domain name in lower case with a dot, such as "demo.example.com", got "demo"',
  },
  {
    name: "a community group",
    given: { group: "apps.k8s.io" },
    expected:
      'TypeError: Cannot define kind "Website": group "apps.k8s.io" belongs to the Kubernetes community. Use your own domain, or name the approval in annotation "api-approved.kubernetes.io"',
  },
  {
    name: "a community group with an invalid approval",
    given: { group: "apps.k8s.io", annotations: { "api-approved.kubernetes.io": "https:yes" } },
    expected:
      'TypeError: Cannot define kind "Website": annotation "api-approved.kubernetes.io" must be a URL, or a reason that starts with "unapproved", got "https:yes"',
  },
  {
    name: "a version in upper case",
    given: { version: "V1" },
    expected:
      'TypeError: Cannot define kind "Website": "version" must have at most 63 lower case letters, digits and "-", and start with a letter, such as "v1", got "V1"',
  },
  {
    name: "a plural with a dot",
    given: { plural: "web.sites" },
    expected:
      'TypeError: Cannot define kind "Website": "plural" must have at most 63 lower case letters, digits and "-", and start with a letter, such as "websites", got "web.sites"',
  },
  {
    name: "a short name with a space",
    given: { shortNames: ["web", "w s"] },
    expected:
      'TypeError: Cannot define kind "Website": "shortNames" must have at most 63 lower case letters, digits and "-", and start with a letter, such as "web", got "w s"',
  },
  {
    name: "a name that is too long in total",
    given: { group: `${"a".repeat(60)}.${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(60)}.com` },
    expected: `TypeError: Cannot define kind "Website": "websites.${"a".repeat(60)}.${"b".repeat(60)}.${
      "c".repeat(60)
    }.${"d".repeat(60)}.com" is longer than 253 characters. Shorten "group"`,
  },
  {
    name: "a spec that is not an object",
    given: { spec: s.string() },
    expected: 'TypeError: Cannot define kind "Website": "spec" must be the schema of an object. Use s.object()',
  },
  {
    name: "an unknown scope",
    given: { spec: s.object({}), scope: "Namespace" },
    expected:
      'TypeError: Cannot define kind "Website": "scope" must be one of "Namespaced", "Cluster", got "Namespace"',
  },
  {
    name: "a column of an unknown field",
    given: { spec: s.object({ host: s.string() }), columns: { Host: ".spec.hots" } },
    expected:
      'TypeError: Cannot define kind "Website": the path ".spec.hots" of column "Host" is not in the schema: ".spec" has no "hots". Did you mean "host"?',
  },
  {
    name: "a column with an invalid path",
    given: { spec: s.object({ host: s.string() }), columns: { Host: "spec.host" } },
    expected:
      'TypeError: Cannot define kind "Website": the path "spec.host" of column "Host" is not in the schema: it must start with ".spec" or ".metadata"',
  },
  {
    name: "a column without a heading",
    given: { spec: s.object({ host: s.string() }), columns: { "": ".spec.host" } },
    expected: 'TypeError: Cannot define kind "Website": the heading of a column must not be empty',
  },
];

for (const { name, given, expected } of INVALID) {
  Deno.test(`resource rejects ${name}`, () => {
    assert.throws(() => resource(any({ ...NAMES, ...given })), (error) => {
      assert.equal(String(error), expected);
      return true;
    });
  });
}
