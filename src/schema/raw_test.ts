import assert from "node:assert/strict";
import { type JsonSchema, s } from "./mod.ts";

// deno-lint-ignore no-explicit-any
const any = (value: unknown): any => value;

Deno.test("s.raw keeps JSON Schema as it is", () => {
  const given: JsonSchema = {
    type: "object",
    properties: { a: { type: "array", items: { type: "string", pattern: "^a" } } },
    additionalProperties: false,
    oneOf: [{ required: ["a"] }, { maxProperties: 0 }],
  };

  assert.deepEqual(s.raw(given), given);
});

Deno.test("s.raw accepts keywords without effect, as a server does", () => {
  const given: JsonSchema = { type: "integer", minimum: 3, maximum: 2 };

  assert.deepEqual(s.raw({ type: "object", properties: { given } }).properties, { given });
});

Deno.test("a property with s.raw and a default is not required", () => {
  assert.equal(s.object({ a: s.raw<string>({ type: "string", default: "" }) }).required, undefined);
});

const REJECTED: { name: string; given: () => unknown; expected: string }[] = [
  {
    name: "a value that is not a schema",
    given: () => s.raw(any("string")),
    expected: 'TypeError: Cannot define a raw schema: it must be a schema, got "string"',
  },
  {
    name: "an unknown nested keyword",
    given: () => s.raw({ type: "object", properties: { a: { type: "array", items: any({ typ: "string" }) } } }),
    expected: 'TypeError: Cannot define a raw schema: properties[a].items: unknown option "typ"',
  },
  {
    name: "a schema with thousands of levels",
    given: () => {
      let schema: JsonSchema = { type: "string" };
      for (let i = 0; i < 5000; i++) schema = { type: "object", properties: { a: schema } };
      return s.raw(schema);
    },
    expected:
      `TypeError: Cannot define a raw schema: ${
        "properties[a].".repeat(4)
      }prop...: it is nested deeper than 1000 levels ` +
      "of JSON. Use s.anything() at some level",
  },
  {
    name: "an invalid RE2 pattern under additionalProperties",
    given: () => s.raw({ type: "object", additionalProperties: { type: "string", pattern: "(?<=a)b" } }),
    expected:
      'SyntaxError: Cannot define a raw schema: additionalProperties: "pattern" must be a valid RE2 regular expression: "(?<=a)b": error parsing regexp: invalid named capture: `(?<=a)b`',
  },
  {
    name: "a nested default that violates its schema",
    given: () => s.raw({ type: "object", properties: { a: { type: "integer", default: "1" } } }),
    expected:
      'TypeError: Cannot define a raw schema: properties[a]: default: Invalid value: "string": default must be of type integer: "string"',
  },
  {
    name: "a schema that contains itself",
    given: () => {
      const loop: { type: "object"; properties?: { [name: string]: JsonSchema } } = { type: "object" };
      loop.properties = { loop };
      return s.raw(loop);
    },
    expected: "TypeError: Cannot define a raw schema: properties[loop]: it contains itself",
  },
];

for (const { name, given, expected } of REJECTED) {
  Deno.test(`s.raw rejects ${name}`, () => {
    assert.throws(given, (error) => {
      assert.equal(String(error), expected);
      return true;
    });
  });
}
