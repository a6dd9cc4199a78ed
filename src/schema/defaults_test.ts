import assert from "node:assert/strict";
import { applyDefaults } from "./defaults.ts";
import type { JsonSchema } from "./json_schema.ts";

const schema: JsonSchema = {
  type: "object",
  properties: {
    size: { type: "integer", default: 3 },
    note: { type: "string", nullable: true, default: "n" },
    plain: { type: "string" },
    nested: { type: "object", default: {}, properties: { on: { type: "boolean", default: true } } },
    bare: { type: "object", properties: { on: { type: "boolean", default: true } } },
    list: { type: "array", items: { type: "object", properties: { port: { type: "integer", default: 80 } } } },
    map: { type: "object", additionalProperties: { type: "object", properties: { x: { default: 1 } } } },
  },
};

const cases: readonly { name: string; given: unknown; expected: unknown }[] = [
  {
    name: "sets missing fields, also inside a default",
    given: {},
    expected: { size: 3, note: "n", nested: { on: true } },
  },
  {
    name: "keeps present values",
    given: { size: 1, note: "x", nested: { on: false } },
    expected: { size: 1, note: "x", nested: { on: false } },
  },
  {
    name: "treats null as missing if it is not nullable",
    given: { size: null, note: "x", nested: {} },
    expected: { size: 3, note: "x", nested: { on: true } },
  },
  {
    name: "keeps null if it is nullable",
    given: { size: 1, note: null, nested: {} },
    expected: { size: 1, note: null, nested: { on: true } },
  },
  {
    name: "drops null without a default",
    given: { size: 1, note: "x", plain: null, nested: {} },
    expected: { size: 1, note: "x", nested: { on: true } },
  },
  {
    name: "descends into lists and maps",
    given: { size: 1, note: "x", nested: {}, list: [{}], map: { a: {} } },
    expected: { size: 1, note: "x", nested: { on: true }, list: [{ port: 80 }], map: { a: { x: 1 } } },
  },
];
for (const { name, given, expected } of cases) {
  Deno.test(`applyDefaults ${name}`, () => {
    const before = structuredClone(given);

    assert.deepEqual(applyDefaults(schema, given), expected);
    assert.deepEqual(given, before);
  });
}

Deno.test("applyDefaults returns the same object if it sets no default", () => {
  const value = { size: 1, note: "x", nested: { on: true }, list: [{ port: 1 }] };

  assert.equal(applyDefaults(schema, value), value);
});
