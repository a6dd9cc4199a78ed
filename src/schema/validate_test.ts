import assert from "node:assert/strict";
import type { JsonSchema } from "./json_schema.ts";
import { validate } from "./validate.ts";

const NO_FIELD = "<nil>";
const cases: readonly { name: string; schema: JsonSchema; value: unknown; expected: string[] }[] = [
  {
    name: "a wrong type",
    schema: { type: "string" },
    value: 1,
    expected: [`v: Invalid value: "integer": v in body must be of type string: "integer"`],
  },
  {
    name: "null",
    schema: { type: "string" },
    value: null,
    expected: [`v: Invalid value: "null": v in body must be of type string: "null"`],
  },
  { name: "null that is nullable", schema: { type: "string", nullable: true }, value: null, expected: [] },
  { name: "an integer for a number", schema: { type: "number" }, value: 1, expected: [] },
  { name: "1.0 for an integer", schema: { type: "integer" }, value: 1.0, expected: [] },
  {
    name: "a fraction for an integer",
    schema: { type: "integer" },
    value: 1.5,
    expected: [
      `v: Invalid value: "number": v in body must be of type integer: "number"`,
      `${NO_FIELD}: Invalid value: "": Checked value must be of type integer (default format) in v`,
    ],
  },
  { name: "a string for int-or-string", schema: { "x-kubernetes-int-or-string": true }, value: "1", expected: [] },
  {
    name: "a boolean for int-or-string",
    schema: { "x-kubernetes-int-or-string": true },
    value: true,
    expected: [`v: Invalid value: "boolean": v in body must be of type integer,string: "boolean"`],
  },
  {
    name: "a value outside of an enum",
    schema: { type: "string", enum: ["a", "b"] },
    value: "c",
    expected: [`v: Unsupported value: "c": supported values: "a", "b"`],
  },
  {
    name: "a string that is too short in code points",
    schema: { type: "string", minLength: 2 },
    value: "🙂",
    expected: [`v: Invalid value: "🙂": v in body should be at least 2 chars long`],
  },
  {
    name: "a string that is too long",
    schema: { type: "string", maxLength: 1 },
    value: "ab",
    expected: ["v: Too long: may not be more than 1 byte"],
  },
  {
    name: "a string that does not match its pattern",
    schema: { type: "string", pattern: "^a+$" },
    value: "b",
    expected: ["v: Invalid value: \"b\": v in body should match '^a+$'"],
  },
  {
    name: "a string without its format",
    schema: { type: "string", format: "ipv4" },
    value: "x",
    expected: [`v: Invalid value: "x": v in body must be of type ipv4: "x"`],
  },
  { name: "an unknown format", schema: { type: "string", format: "quantity" }, value: "x", expected: [] },
  {
    name: "a number above the maximum",
    schema: { type: "integer", maximum: 3 },
    value: 4,
    expected: ["v: Invalid value: 4: v in body should be less than or equal to 3"],
  },
  {
    name: "a number equal to an exclusive bound",
    schema: { type: "integer", minimum: 3, exclusiveMinimum: true },
    value: 3,
    expected: ["v: Invalid value: 3: v in body should be greater than 3"],
  },
  {
    name: "a number that is not a multiple",
    schema: { type: "number", multipleOf: 0.5 },
    value: 1.2,
    expected: ["v: Invalid value: 1.2: v in body should be a multiple of 0.5"],
  },
  {
    name: "too many items",
    schema: { type: "array", maxItems: 1 },
    value: [1, 2],
    expected: ["v: Too many: 2: must have at most 1 item"],
  },
  {
    name: "too few items",
    schema: { type: "array", minItems: 1 },
    value: [],
    expected: ["v: Invalid value: 0: v in body should have at least 1 items"],
  },
  {
    name: "an invalid item",
    schema: { type: "array", items: { type: "integer" } },
    value: [1, "x"],
    expected: [`v[1]: Invalid value: "string": v[1] in body must be of type integer: "string"`],
  },
  {
    name: "a missing property",
    schema: { type: "object", required: ["a"] },
    value: {},
    expected: ["v.a: Required value"],
  },
  {
    name: "an invalid value of a map",
    schema: { type: "object", additionalProperties: { type: "string" } },
    value: { x: 1 },
    expected: [`v.x: Invalid value: "integer": v.x in body must be of type string: "integer"`],
  },
  {
    name: "too many properties",
    schema: { type: "object", maxProperties: 0 },
    value: { x: 1 },
    expected: ["v: Too many: 1: must have at most 0 items"],
  },
  {
    name: "no match in anyOf",
    schema: { anyOf: [{ type: "string" }, { type: "integer", minimum: 5 }] },
    value: 4,
    expected: [
      `${NO_FIELD}: Invalid value: "": "v" must validate at least one schema (anyOf)`,
      "v: Invalid value: 4: v in body should be greater than or equal to 5",
    ],
  },
  {
    name: "two matches in oneOf",
    schema: { oneOf: [{ minimum: 1 }, { minimum: 2 }] },
    value: 3,
    expected: [
      `${NO_FIELD}: Invalid value: "": "v" must validate one and only one schema (oneOf). Found 2 valid alternatives`,
    ],
  },
  {
    name: "a mismatch in allOf",
    schema: { allOf: [{ minimum: 1 }, { minimum: 9 }] },
    value: 3,
    expected: [
      "v: Invalid value: 3: v in body should be greater than or equal to 9",
      `${NO_FIELD}: Invalid value: "": "v" must validate all the schemas (allOf)`,
    ],
  },
  {
    name: "a match of not",
    schema: { not: { enum: [3] } },
    value: 3,
    expected: [`${NO_FIELD}: Invalid value: "": "v" must not validate the schema (not)`],
  },
];
for (const { name, schema, value, expected } of cases) {
  Deno.test(`validate: ${name}`, () => {
    const errors = validate({ type: "object", properties: { v: schema } }, { v: value });

    assert.deepEqual(errors.map(({ field, message }) => `${field}: ${message}`), expected);
  });
}

Deno.test("validate returns the type of each error", () => {
  const schema: JsonSchema = {
    type: "object",
    required: ["a"],
    properties: {
      b: { type: "string" },
      c: { enum: [1] },
      d: { type: "string", maxLength: 1 },
      e: { type: "array", maxItems: 0 },
    },
  };

  const errors = validate(schema, { b: 1, c: 2, d: "xx", e: [1] });

  assert.deepEqual(errors.map(({ reason }) => reason), [
    "FieldValueTypeInvalid",
    "FieldValueNotSupported",
    "FieldValueTooLong",
    "FieldValueTooMany",
    "FieldValueRequired",
  ]);
});

Deno.test("validate ignores unchanged errors of the old value", () => {
  const item: JsonSchema = {
    type: "object",
    properties: { name: { type: "string" }, size: { type: "integer", maximum: 1 } },
  };
  const schema: JsonSchema = {
    type: "object",
    properties: {
      list: { type: "array", items: item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] },
      plain: { type: "array", items: item },
    },
  };
  const bad = { name: "a", size: 2 };

  assert.deepEqual(validate(schema, { list: [{ name: "b" }, bad] }, { old: { list: [bad] } }), []);
  // Items of a list without keys have no correlation.
  assert.equal(validate(schema, { plain: [{ name: "b" }, bad] }, { old: { plain: [bad] } }).length, 1);
});

Deno.test("validate prefixes paths with the given path", () => {
  const [error] = validate({ type: "object", properties: { a: { type: "string" } } }, { a: 1 }, { path: "status" });

  assert.equal(error?.field, "status.a");
});

Deno.test("validate reports a required property as missing even if every object inherits its name", () => {
  const properties = JSON.parse('{"constructor":{"type":"string"},"__proto__":{"type":"string"}}');

  assert.deepEqual(validate({ type: "object", properties }, {}), []);
  assert.equal(validate({ type: "object", properties }, JSON.parse('{"__proto__":1}')).length, 1);
});
