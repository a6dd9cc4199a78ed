import assert from "node:assert/strict";
import type { JsonSchema } from "@op/sdk/resource";
import { schemaChanges } from "./schema_changes.ts";

const TEXT: JsonSchema = { type: "string" };
const NUMBER: JsonSchema = { type: "integer" };

function object(properties: Record<string, JsonSchema>, required: readonly string[] = []): JsonSchema {
  return { type: "object", properties, required };
}

const CASES: readonly { name: string; before: JsonSchema; after: JsonSchema; expected: readonly string[] }[] = [
  { name: "no change", before: object({ a: TEXT }), after: object({ a: TEXT }), expected: [] },
  { name: "an added description", before: TEXT, after: { ...TEXT, description: "new" }, expected: [] },
  {
    name: "an added optional field",
    before: object({}),
    after: object({ a: TEXT }),
    expected: ["compatible .a: was added"],
  },
  {
    name: "an added required field",
    before: object({}),
    after: object({ a: TEXT }, ["a"]),
    expected: ["breaking .a: was added as a required field"],
  },
  {
    name: "an added required field with a default",
    before: object({}),
    after: object({ a: { ...TEXT, default: "x" } }, ["a"]),
    expected: ["compatible .a: was added"],
  },
  {
    name: "a removed field",
    before: object({ a: object({ b: TEXT }) }),
    after: object({ a: object({}) }),
    expected: ["breaking .a.b: was removed, so its values are dropped"],
  },
  {
    name: "a removed field of an object that preserves unknown fields",
    before: object({ a: TEXT }),
    after: { ...object({}), "x-kubernetes-preserve-unknown-fields": true },
    expected: [
      "compatible : x-kubernetes-preserve-unknown-fields changed to true",
      "notice .a: is no longer described",
    ],
  },
  {
    name: "a field that becomes required",
    before: object({ a: TEXT }),
    after: object({ a: TEXT }, ["a"]),
    expected: ["breaking .a: became required"],
  },
  {
    name: "a required field that loses its default",
    before: object({ a: { ...TEXT, default: "x" } }, ["a"]),
    after: object({ a: TEXT }, ["a"]),
    expected: ["breaking .a: became required", 'notice .a: default "x" was removed'],
  },
  {
    name: "a field that becomes optional",
    before: object({ a: TEXT }, ["a"]),
    after: object({ a: TEXT }),
    expected: ["compatible .a: became optional"],
  },
  { name: "a changed type", before: TEXT, after: NUMBER, expected: ["breaking : type changed from string to integer"] },
  {
    name: "a wider type",
    before: NUMBER,
    after: { type: "number" },
    expected: ["compatible : type changed from integer to number"],
  },
  {
    name: "narrower bounds",
    before: { ...TEXT, minLength: 1, maxLength: 9 },
    after: { ...TEXT, minLength: 2, maxLength: 8 },
    expected: ["breaking : minLength changed from 1 to 2", "breaking : maxLength changed from 9 to 8"],
  },
  {
    name: "wider bounds",
    before: { ...NUMBER, minimum: 1, maximum: 9, exclusiveMinimum: true },
    after: { ...NUMBER, minimum: 0, maximum: 10 },
    expected: [
      "compatible : minimum changed from 1 to 0",
      "compatible : maximum changed from 9 to 10",
      "compatible : exclusiveMinimum changed to false",
    ],
  },
  {
    name: "an added and a removed bound",
    before: { ...NUMBER, minimum: 1 },
    after: { ...NUMBER, maximum: 9 },
    expected: ["compatible : minimum 1 was removed", "breaking : maximum 9 was added"],
  },
  {
    name: "an added pattern and a removed format",
    before: { ...TEXT, format: "uri" },
    after: { ...TEXT, pattern: "^a" },
    expected: ['breaking : pattern "^a" was added', 'compatible : format "uri" was removed'],
  },
  {
    name: "an added and a removed value of an enum",
    before: { ...TEXT, enum: ["a", "b"] },
    after: { ...TEXT, enum: ["b", "c"] },
    expected: ['breaking : value "a" was removed', 'compatible : value "c" was added'],
  },
  {
    name: "an added enum",
    before: TEXT,
    after: { ...TEXT, enum: ["a"] },
    expected: ['breaking : only ["a"] are allowed now'],
  },
  {
    name: "a field that becomes non-nullable",
    before: { ...TEXT, nullable: true },
    after: TEXT,
    expected: ["breaking : nullable changed to false"],
  },
  {
    name: "a changed list type",
    before: { type: "array", items: TEXT },
    after: { type: "array", items: TEXT, "x-kubernetes-list-type": "set" },
    expected: ["breaking : list type changed from atomic to set, which changes how applies are merged"],
  },
  {
    name: "an added and a removed rule",
    before: { ...TEXT, "x-kubernetes-validations": [{ rule: "self != 'a'" }] },
    after: { ...TEXT, "x-kubernetes-validations": [{ rule: "self != 'b'", message: "no b" }] },
    expected: [`breaking : rule "self != 'b'" was added`, `compatible : rule "self != 'a'" was removed`],
  },
  {
    name: "a changed default",
    before: { ...TEXT, default: "a" },
    after: { ...TEXT, default: "b" },
    expected: ['notice : default changed from "a" to "b"'],
  },
  {
    name: "changed types of list items and map values",
    before: object({ a: { type: "array", items: TEXT }, b: { type: "object", additionalProperties: TEXT } }),
    after: object({ a: { type: "array", items: NUMBER }, b: { type: "object", additionalProperties: NUMBER } }),
    expected: [
      "breaking .a[]: type changed from string to integer",
      "breaking .b.*: type changed from string to integer",
    ],
  },
  {
    name: "additional keys that are no longer allowed",
    before: { type: "object", additionalProperties: TEXT },
    after: object({}),
    expected: ["breaking : additional keys are no longer allowed"],
  },
];

for (const { name, before, after, expected } of CASES) {
  Deno.test(`schemaChanges classifies ${name}`, () => {
    assert.deepEqual(
      schemaChanges(before, after, "").map(({ severity, path, message }) => `${severity} ${path}: ${message}`),
      expected,
    );
  });
}
