import assert from "node:assert/strict";
import type { JsonSchema } from "./json_schema.ts";
import { prune } from "./prune.ts";

const inner: JsonSchema = { type: "object", properties: { a: { type: "string" } } };

const cases: readonly { name: string; schema: JsonSchema; given: unknown; expected: unknown; dropped: string[] }[] = [
  {
    name: "keeps kind, apiVersion and metadata at the root, not below it",
    schema: { type: "object", properties: { spec: inner } },
    given: { apiVersion: "v1", kind: "K", metadata: { x: 1 }, spec: { a: "a", kind: "K" } },
    expected: { apiVersion: "v1", kind: "K", metadata: { x: 1 }, spec: { a: "a" } },
    dropped: ["spec.kind"],
  },
  {
    name: "keeps kind, apiVersion and metadata in an embedded resource",
    schema: { type: "object", properties: { spec: { ...inner, "x-kubernetes-embedded-resource": true } } },
    given: { spec: { kind: "K", b: 1 } },
    expected: { spec: { kind: "K" } },
    dropped: ["spec.b"],
  },
  {
    name: "keeps unknown fields with preserveUnknownFields, but prunes declared fields below",
    schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { spec: inner } },
    given: { other: { deep: 1 }, spec: { b: 1 } },
    expected: { other: { deep: 1 }, spec: {} },
    dropped: ["spec.b"],
  },
  {
    name: "descends into lists and maps",
    schema: {
      type: "object",
      properties: { list: { type: "array", items: inner }, map: { type: "object", additionalProperties: inner } },
    },
    given: { list: [{ b: 1 }, { a: "a" }], map: { x: { b: 1 } } },
    expected: { list: [{}, { a: "a" }], map: { x: {} } },
    dropped: ["list[0].b", "map.x.b"],
  },
];
for (const { name, schema, given, expected, dropped } of cases) {
  Deno.test(`prune ${name}`, () => {
    assert.deepEqual(prune(schema, given), { value: expected, dropped });
  });
}

Deno.test("prune returns the same object if it drops no field", () => {
  const value = { spec: { a: "a" } };

  assert.equal(prune({ type: "object", properties: { spec: inner } }, value).value, value);
});
