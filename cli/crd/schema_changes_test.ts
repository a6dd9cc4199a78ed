import assert from "node:assert/strict";
import type { JsonSchema } from "@op/sdk/resource";
import { schemaChanges } from "./schema_changes.ts";

const TEXT: JsonSchema = { type: "string" };
const NUMBER: JsonSchema = { type: "integer" };

function object(properties: Record<string, JsonSchema>, required: readonly string[] = []): JsonSchema {
  return { type: "object", properties, required };
}

const CASES: readonly { name: string; before: JsonSchema; after: JsonSchema; expected: readonly string[] }[] = [
  { name: "nothing", before: object({ a: TEXT }), after: object({ a: TEXT }), expected: [] },
  { name: "a description", before: TEXT, after: { ...TEXT, description: "new" }, expected: [] },
  { name: "an optional field", before: object({}), after: object({ a: TEXT }), expected: ["compatible .a: is new"] },
  {
    name: "a required field",
    before: object({}),
    after: object({ a: TEXT }, ["a"]),
    expected: ["breaking .a: is new and required"],
  },
  {
    name: "a required field with a default",
    before: object({}),
    after: object({ a: { ...TEXT, default: "x" } }, ["a"]),
    expected: ["compatible .a: is new"],
  },
  {
    name: "a field that is gone",
    before: object({ a: object({ b: TEXT }) }),
    after: object({ a: object({}) }),
    expected: ["breaking .a.b: is gone: what is in it is dropped"],
  },
  {
    name: "a field that is gone where unknown ones are kept",
    before: object({ a: TEXT }),
    after: { ...object({}), "x-kubernetes-preserve-unknown-fields": true },
    expected: ["compatible : x-kubernetes-preserve-unknown-fields is true now", "notice .a: is not described any more"],
  },
  {
    name: "what becomes required",
    before: object({ a: TEXT }),
    after: object({ a: TEXT }, ["a"]),
    expected: ["breaking .a: is required now"],
  },
  {
    name: "a required field that loses its default",
    before: object({ a: { ...TEXT, default: "x" } }, ["a"]),
    after: object({ a: TEXT }, ["a"]),
    expected: ["breaking .a: is required now", 'notice .a: default "x" is gone'],
  },
  {
    name: "what becomes optional",
    before: object({ a: TEXT }, ["a"]),
    after: object({ a: TEXT }),
    expected: ["compatible .a: is optional now"],
  },
  { name: "another type", before: TEXT, after: NUMBER, expected: ["breaking : type string is integer now"] },
  {
    name: "a wider type",
    before: NUMBER,
    after: { type: "number" },
    expected: ["compatible : type integer is number now"],
  },
  {
    name: "bounds that are narrower",
    before: { ...TEXT, minLength: 1, maxLength: 9 },
    after: { ...TEXT, minLength: 2, maxLength: 8 },
    expected: ["breaking : minLength 1 is 2 now", "breaking : maxLength 9 is 8 now"],
  },
  {
    name: "bounds that are wider",
    before: { ...NUMBER, minimum: 1, maximum: 9, exclusiveMinimum: true },
    after: { ...NUMBER, minimum: 0, maximum: 10 },
    expected: [
      "compatible : minimum 1 is 0 now",
      "compatible : maximum 9 is 10 now",
      "compatible : exclusiveMinimum is false now",
    ],
  },
  {
    name: "bounds that come and go",
    before: { ...NUMBER, minimum: 1 },
    after: { ...NUMBER, maximum: 9 },
    expected: ["compatible : minimum 1 is gone", "breaking : maximum 9 is new"],
  },
  {
    name: "a pattern and a format",
    before: { ...TEXT, format: "uri" },
    after: { ...TEXT, pattern: "^a" },
    expected: ['breaking : pattern "^a" is new', 'compatible : format "uri" is gone'],
  },
  {
    name: "values",
    before: { ...TEXT, enum: ["a", "b"] },
    after: { ...TEXT, enum: ["b", "c"] },
    expected: ['breaking : value "a" is gone', 'compatible : value "c" is new'],
  },
  {
    name: "a list of values that is new",
    before: TEXT,
    after: { ...TEXT, enum: ["a"] },
    expected: ['breaking : only ["a"] are taken now'],
  },
  {
    name: "null",
    before: { ...TEXT, nullable: true },
    after: TEXT,
    expected: ["breaking : nullable is false now"],
  },
  {
    name: "how a list is merged",
    before: { type: "array", items: TEXT },
    after: { type: "array", items: TEXT, "x-kubernetes-list-type": "set" },
    expected: ["breaking : the list is set now, it was atomic: applies merge it otherwise"],
  },
  {
    name: "rules",
    before: { ...TEXT, "x-kubernetes-validations": [{ rule: "self != 'a'" }] },
    after: { ...TEXT, "x-kubernetes-validations": [{ rule: "self != 'b'", message: "no b" }] },
    expected: [`breaking : rule "self != 'b'" is new`, `compatible : rule "self != 'a'" is gone`],
  },
  {
    name: "a default",
    before: { ...TEXT, default: "a" },
    after: { ...TEXT, default: "b" },
    expected: ['notice : default "a" is "b" now'],
  },
  {
    name: "entries of lists and values of maps",
    before: object({ a: { type: "array", items: TEXT }, b: { type: "object", additionalProperties: TEXT } }),
    after: object({ a: { type: "array", items: NUMBER }, b: { type: "object", additionalProperties: NUMBER } }),
    expected: ["breaking .a[]: type string is integer now", "breaking .b.*: type string is integer now"],
  },
  {
    name: "keys of one's own",
    before: { type: "object", additionalProperties: TEXT },
    after: object({}),
    expected: ["breaking : keys of one's own are not taken any more"],
  },
];

for (const { name, before, after, expected } of CASES) {
  Deno.test(`schemaChanges: ${name}`, () => {
    assert.deepEqual(
      schemaChanges(before, after, "").map(({ severity, path, message }) => `${severity} ${path}: ${message}`),
      expected,
    );
  });
}
