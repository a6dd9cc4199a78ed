import assert from "node:assert/strict";
import { s } from "../schema/mod.ts";
import { resource } from "./mod.ts";

const KIND = {
  group: "demo.example.com",
  version: "v1",
  kind: "Website",
  spec: s.object({
    host: s.string(),
    replicas: s.integer({ default: 1 }),
    ratio: s.number({ default: 1 }),
    port: s.intOrString({ default: 80 }),
    on: s.boolean({ default: true }),
    labels: s.map(s.string(), { default: {} }),
    list: s.array(s.object({ name: s.string(), size: s.integer() }), { default: [] }),
    rest: s.optional(s.anything({ type: "object" })),
  }),
  status: s.object({ ready: s.integer(), selector: s.string() }),
} as const;
// deno-lint-ignore no-explicit-any -- JavaScript code is not type-checked
const any = (value: unknown): any => value;

Deno.test("resource declares the scale of a kind", () => {
  const Website = resource({
    ...KIND,
    scale: { specReplicas: ".spec.replicas", statusReplicas: ".status.ready", labelSelector: ".status.selector" },
  });

  assert.deepEqual(Website.crd.spec.versions[0]?.subresources, {
    status: {},
    scale: {
      specReplicasPath: ".spec.replicas",
      statusReplicasPath: ".status.ready",
      labelSelectorPath: ".status.selector",
    },
  });
});

Deno.test("resource declares selectable fields", () => {
  const paths = [".spec.host", ".spec.replicas", ".spec.on", ".spec.labels.app", ".status.ready"] as const;
  const Website = resource({ ...KIND, selectableFields: paths });

  assert.deepEqual(Website.crd.spec.versions[0]?.selectableFields, paths.map((jsonPath) => ({ jsonPath })));
});

Deno.test("resource declares columns with all options", () => {
  const Website = resource({
    ...KIND,
    columns: {
      Big: ".spec.list[?(@.size>=3)].name",
      Other: { path: '.spec.list[?(@.name!="a")].size', priority: 2, format: "int32", description: "Not a" },
      First: { path: ".spec.list[0:2].name", priority: 0 },
      Host: { path: ".spec.host", type: "string" },
    },
  });

  assert.deepEqual(Website.crd.spec.versions[0]?.additionalPrinterColumns, [
    { name: "Big", type: "string", jsonPath: ".spec.list[?(@.size>=3)].name" },
    {
      name: "Other",
      type: "integer",
      jsonPath: '.spec.list[?(@.name!="a")].size',
      format: "int32",
      priority: 2,
      description: "Not a",
    },
    { name: "First", type: "string", jsonPath: ".spec.list[0:2].name" },
    { name: "Host", type: "string", jsonPath: ".spec.host" },
  ]);
});

Deno.test("resource adds no conditions to a status with conditions: false", () => {
  const Website = resource({ ...KIND, conditions: false });

  const { status } = Website.crd.spec.versions[0]!.schema.openAPIV3Schema.properties!;
  assert.deepEqual(status, {
    type: "object",
    properties: { ready: { type: "integer" }, selector: { type: "string" } },
  });
});

Deno.test("resource adds rules to the whole object", () => {
  const rule = {
    rule: "self.metadata.name.size() < 20 || self.spec.replicas < 5",
    message: "large sites need short names",
  };
  const Website = resource({ ...KIND, validations: [rule] });

  assert.deepEqual(Website.crd.spec.versions[0]!.schema.openAPIV3Schema["x-kubernetes-validations"], [rule]);
});

const INVALID: readonly { name: string; given: Record<string, unknown>; expected: string }[] = [
  {
    name: "a scale without a path",
    given: { scale: { specReplicas: ".spec.replicas" } },
    expected: '"scale.statusReplicas" must be a path below .status, got undefined',
  },
  {
    name: "a scale whose desired replicas are in the status",
    given: { scale: { specReplicas: ".status.ready", statusReplicas: ".status.ready" } },
    expected: '"scale.specReplicas" must be a path below .spec, got ".status.ready"',
  },
  {
    name: "a scale with an unknown field",
    given: { scale: { specReplicas: ".spec.replica", statusReplicas: ".status.ready" } },
    expected:
      'the path ".spec.replica" of "scale" is not in the schema: ".spec" has no "replica". Did you mean "replicas"?',
  },
  {
    name: "a scale whose replicas are a string",
    given: { scale: { specReplicas: ".spec.host", statusReplicas: ".status.ready" } },
    expected: '"scale.specReplicas" must be of type integer: ".spec.host" is of type string',
  },
  {
    name: "a scale whose replicas are an int-or-string",
    given: { scale: { specReplicas: ".spec.port", statusReplicas: ".status.ready" } },
    expected: '"scale.specReplicas" must be of type integer: ".spec.port" is of type integer or string',
  },
  {
    name: "a scale whose replicas are in a list",
    given: { scale: { specReplicas: ".spec.list[0].size", statusReplicas: ".status.ready" } },
    expected:
      'the path ".spec.list[0].size" of "scale" is not in the schema: only property names are allowed, such as ".spec.replicas"',
  },
  {
    name: "an unknown selectable field",
    given: { selectableFields: [".spec.hots"] },
    expected:
      'the path ".spec.hots" of "selectableFields" is not in the schema: ".spec" has no "hots". Did you mean "host"?',
  },
  {
    name: "a selectable field whose path has brackets",
    given: { selectableFields: [".spec['host']"] },
    expected: `the path ".spec['host']" of "selectableFields" is invalid: array notation is not allowed`,
  },
  {
    name: "a selectable list",
    given: { selectableFields: [".spec.list"] },
    expected: '".spec.list" of "selectableFields" must be a string, an integer or a boolean, got type array',
  },
  {
    name: "a selectable number",
    given: { selectableFields: [".spec.ratio"] },
    expected: '".spec.ratio" of "selectableFields" must be a string, an integer or a boolean, got type number',
  },
  {
    name: "a selectable int-or-string",
    given: { selectableFields: [".spec.port"] },
    expected: '".spec.port" of "selectableFields" must be a string, an integer or a boolean, got several types',
  },
  {
    name: "a duplicate selectable field",
    given: { selectableFields: [".spec.host", ".spec.host"] },
    expected: '"selectableFields" lists ".spec.host" twice',
  },
  {
    name: "a column with an invalid path",
    given: { columns: { Host: ".spec.list[" } },
    expected: 'the path ".spec.list[" of column "Host" is invalid: unterminated array',
  },
  {
    name: "a column whose filter uses an unknown field",
    given: { columns: { Host: '.spec.list[?(@.nam=="a")].size' } },
    expected:
      'the path ".spec.list[?(@.nam=="a")].size" of column "Host" is not in the schema: ".spec.list" is of type array, and has no "[?(@.nam=="a")].size"',
  },
  {
    name: "a column of an unknown field without a suggestion",
    given: { columns: { Host: ".status.total" } },
    expected:
      'the path ".status.total" of column "Host" is not in the schema: ".status" has no "total". Its fields are "conditions", "observedGeneration", "ready" and "selector"',
  },
  {
    name: "a column with a path below a string",
    given: { columns: { Host: ".spec.host.name" } },
    expected:
      'the path ".spec.host.name" of column "Host" is not in the schema: ".spec.host" is of type string, and has no ".name"',
  },
  {
    name: "a column of an unknown type",
    given: { columns: { Host: { path: ".spec.host", type: "text" } } },
    expected: 'the type of column "Host" must be one of boolean, date, integer, number, string, got "text"',
  },
  {
    name: "a column of an unknown format",
    given: { columns: { Host: { path: ".spec.host", format: "int8" } } },
    expected:
      'the format of column "Host" must be one of byte, date, date-time, double, float, int32, int64, password, ' +
      'got "int8"',
  },
  {
    name: "a column with a fractional priority",
    given: { columns: { Host: { path: ".spec.host", priority: 0.5 } } },
    expected: 'the priority of column "Host" must be an integer, got 0.5',
  },
];
for (const { name, given, expected } of INVALID) {
  Deno.test(`resource rejects ${name}`, () => {
    assert.throws(() => resource(any({ ...KIND, ...given })), {
      name: "TypeError",
      message: `Cannot define kind "Website": ${expected}`,
    });
  });
}

Deno.test("resource rejects more selectable fields than an API server accepts", () => {
  const paths = Array.from({ length: 9 }, (_, i) => `.spec.labels.a${i}`);

  assert.throws(() => resource(any({ ...KIND, selectableFields: paths })), {
    name: "RangeError",
    message: 'Cannot define kind "Website": an API server accepts at most 8 selectable fields, got 9',
  });
});
