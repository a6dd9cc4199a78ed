import assert from "node:assert/strict";
import { schemaErrors, type SchemaErrorsOptions } from "./structural.ts";

const TEXT = { type: "string" };

function object(properties: Record<string, unknown>, rest: Record<string, unknown> = {}): Record<string, unknown> {
  return { type: "object", properties, ...rest };
}

function field(schema: unknown): Record<string, unknown> {
  return object({ f: schema });
}

// The contract suite compares many more cases with a real server.
const CASES: readonly {
  name: string;
  given: Record<string, unknown>;
  options?: SchemaErrorsOptions;
  expected: readonly string[];
}[] = [
  { name: "no error in a valid schema", given: field(TEXT), expected: [] },
  {
    name: "a root without a type",
    given: {},
    expected: ["s.type: Required value: must not be empty at the root"],
  },
  {
    name: "an item without a type",
    given: field({ type: "array", items: {} }),
    expected: ["s.properties[f].items.type: Required value: must not be empty for specified array items"],
  },
  {
    name: "structural errors sorted by message",
    given: object({ b: {}, a: { type: "array" } }),
    expected: [
      "s.properties[a].items: Required value: must be specified",
      "s.properties[b].type: Required value: must not be empty for specified object fields",
    ],
  },
  {
    name: "value validations without a counterpart at the root",
    given: object({ a: TEXT }, { anyOf: [{ properties: { b: {} } }] }),
    expected: ["s.properties[b]: Required value: because it is defined in s.anyOf[0].properties[b]"],
  },
  {
    name: "no error in a default if the schema is not structural",
    given: object({ a: {}, b: { type: "integer", default: "x" } }),
    expected: ["s.properties[a].type: Required value: must not be empty for specified object fields"],
  },
  {
    name: "a default with unknown fields",
    given: field({ type: "object", default: { a: 1 } }),
    expected: ['s.properties[f].default: Invalid value: {"a":1}: must not have unknown fields'],
  },
  {
    name: "no error in an existing default with unknown fields",
    given: field({ type: "object", default: { a: 1 } }),
    options: { tolerated: { unprunedDefaults: true } },
    expected: [],
  },
  {
    name: "a set of objects",
    given: field({ type: "array", "x-kubernetes-list-type": "set", items: { type: "object" } }),
    expected: [
      "s.properties[f].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with " +
      "x-kubernetes-list-type=set",
    ],
  },
  {
    name: "no error in an existing set of objects",
    given: field({ type: "array", "x-kubernetes-list-type": "set", items: { type: "object" } }),
    options: { tolerated: { setTypes: true } },
    expected: [],
  },
  {
    name: "no error in an existing list map whose key may be missing",
    given: field({
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["a"],
      items: object({ a: TEXT }),
    }),
    options: { tolerated: { mapKeys: true } },
    expected: [],
  },
  {
    name: "an unknown keyword",
    given: field({ ...TEXT, $schema: "x" }),
    expected: ["s: Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported"],
  },
  {
    name: "root keywords that a status subresource forbids",
    given: object({}, { minProperties: 1 }),
    options: { hasStatus: true },
    expected: ['s: Invalid value: {"ID":"","Schema":"",'],
  },
  {
    name: "a rule that does not compile",
    given: field({ ...TEXT, "x-kubernetes-validations": [{ rule: "self.a" }] }),
    expected: ['s.properties[f].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.a",'],
  },
  {
    name: "no error in a rule if the schema is not structural",
    given: object({ a: {}, f: { ...TEXT, "x-kubernetes-validations": [{ rule: "self.a" }] } }),
    expected: ["s.properties[a].type: Required value: must not be empty for specified object fields"],
  },
  {
    name: "a rule next to another error",
    given: object({
      a: { type: "array", items: TEXT, uniqueItems: true },
      f: { ...TEXT, "x-kubernetes-validations": [{ rule: "self.a" }] },
    }),
    expected: [
      "s.properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
      's.properties[f].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.a",',
    ],
  },
  {
    name: "no error in an existing expensive rule",
    given: field({
      type: "array",
      items: { ...TEXT, maxLength: 100 },
      maxItems: 600,
      "x-kubernetes-validations": [{ rule: "self.all(a, self.all(b, a == b))" }],
    }),
    options: { isUnchanged: true },
    expected: [],
  },
];
for (const { name, given, options, expected } of CASES) {
  Deno.test(`schemaErrors reports ${name}`, () => {
    const found = schemaErrors(given, "s", options).map(({ field, message }) => `${field}: ${message}`);

    assert.equal(found.length, expected.length, found.join("\n"));
    found.forEach((text, i) => assert(text.startsWith(expected[i] ?? ""), `${text}\nis not\n${expected[i]}`));
  });
}

Deno.test("schemaErrors rejects a new expensive rule", () => {
  const given = field({
    type: "array",
    items: { ...TEXT, maxLength: 100 },
    maxItems: 600,
    "x-kubernetes-validations": [{ rule: "self.all(a, self.all(b, a == b))" }],
  });

  assert.match(schemaErrors(given, "s")[0]?.message ?? "", /estimated rule cost exceeds budget/);
});

Deno.test("schemaErrors treats __proto__ and other inherited names as ordinary properties", () => {
  const properties = JSON.parse('{"__proto__": {"type": "string"}, "constructor": {}, "toString": {"type": "string"}}');
  assert.deepEqual(schemaErrors(object(properties), "s").map(({ field }) => field), ["s.properties[constructor].type"]);
});
