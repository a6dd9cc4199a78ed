import assert from "node:assert/strict";
import { type JsonSchema, s, validate } from "./mod.ts";

// deno-lint-ignore no-explicit-any
const any = (value: unknown): any => value;

const object = s.object({
  a: s.optional(s.string()),
  b: s.optional(s.string()),
  c: s.optional(s.string()),
  name: s.string(),
  size: s.integer({ default: 1 }),
});

const RULES: { name: string; given: JsonSchema; expected: unknown }[] = [
  {
    name: "exactlyOneOf",
    given: s.exactlyOneOf(object, ["a", "b"]),
    expected: {
      rule: "[has(self.a),has(self.b)].filter(x,x==true).size() == 1",
      message: "exactly one of the fields in [a b] must be set",
    },
  },
  {
    name: "atMostOneOf",
    given: s.atMostOneOf(object, ["a", "b", "c"]),
    expected: {
      rule: "[has(self.a),has(self.b),has(self.c)].filter(x,x==true).size() <= 1",
      message: "at most one of the fields in [a b c] may be set",
    },
  },
  {
    name: "atLeastOneOf",
    given: s.atLeastOneOf(object, ["c", "a"]),
    expected: {
      rule: "[has(self.c),has(self.a)].filter(x,x==true).size() >= 1",
      message: "at least one of the fields in [c a] must be set",
    },
  },
];

for (const { name, given, expected } of RULES) {
  Deno.test(`s.${name} adds a rule to the object`, () => {
    const { "x-kubernetes-validations": rules, ...rest } = given;

    assert.deepEqual(rules, [expected]);
    assert.deepEqual(rest, object);
  });
}

/** The present properties, and whether exactly, at most and at least one allow them. */
const COMBINATIONS = [
  { given: {}, expected: [false, true, false] },
  { given: { a: "" }, expected: [true, true, true] },
  { given: { b: "" }, expected: [true, true, true] },
  { given: { a: "", c: "" }, expected: [false, false, true] },
  { given: { a: "", b: "", c: "" }, expected: [false, false, true] },
];

for (const { given, expected } of COMBINATIONS) {
  Deno.test(`s.exactlyOneOf, atMostOneOf and atLeastOneOf as JSON Schema validate an object with [${Object.keys(given)}]`, () => {
    const schemas = [
      s.exactlyOneOf(object, ["a", "b", "c"], { as: "schema" }),
      s.atMostOneOf(object, ["a", "b", "c"], { as: "schema" }),
      s.atLeastOneOf(object, ["a", "b", "c"], { as: "schema" }),
    ];

    const areValid = schemas.map((schema) => validate(schema, { name: "", size: 1, ...given }).length === 0);

    assert.deepEqual(areValid, expected);
  });
}

Deno.test("s.exactlyOneOf can be combined with other alternatives in both forms", () => {
  const both = s.exactlyOneOf(s.exactlyOneOf(object, ["a", "b"], { as: "schema" }), ["b", "c"] as never, {
    as: "schema",
  });

  assert.deepEqual(both.oneOf, [{ required: ["a"] }, { required: ["b"] }]);
  assert.deepEqual(both.allOf, [{ oneOf: [{ required: ["b"] }, { required: ["c"] }] }]);
});

const REJECTED: { name: string; given: () => unknown; expected: string }[] = [
  {
    name: "alternatives with one property",
    given: () => s.exactlyOneOf(object, ["a"]),
    expected: "TypeError: Cannot require exactly one of an object's properties: at least two properties are required",
  },
  {
    name: "alternatives that list a property twice",
    given: () => s.atMostOneOf(object, ["a", "a"]),
    expected: 'TypeError: Cannot require at most one of an object\'s properties: "a" is listed twice',
  },
  {
    name: "alternatives with an unknown property",
    given: () => s.atLeastOneOf(object, ["a", any("constructor")]),
    expected:
      'TypeError: Cannot require at least one of an object\'s properties: "constructor" is not a property of the object',
  },
  {
    name: "alternatives with a required property",
    given: () => s.exactlyOneOf(object, ["a", any("name")]),
    expected:
      'TypeError: Cannot require exactly one of an object\'s properties: "name" is always present. Use s.optional() and no default',
  },
  {
    name: "alternatives with a property that has a default",
    given: () => s.exactlyOneOf(object, ["a", any("size")]),
    expected:
      'TypeError: Cannot require exactly one of an object\'s properties: "size" is always present. Use s.optional() and no default',
  },
  {
    name: "alternatives with a name that CEL cannot spell",
    given: () => s.exactlyOneOf(s.object({ "1": s.optional(s.string()), "2": s.optional(s.string()) }), ["1", "2"]),
    expected:
      'TypeError: Cannot require exactly one of an object\'s properties: the name of property "1" cannot be used in CEL. Use letters, digits, "_", "-", "." and "/", and no leading digit',
  },
  {
    name: "alternatives in an unknown form",
    given: () => s.exactlyOneOf(object, ["a", "b"], { as: any("cel") }),
    expected:
      'TypeError: Cannot require exactly one of an object\'s properties: "as" must be "rule" or "schema", got "cel"',
  },
];

for (const { name, given, expected } of REJECTED) {
  Deno.test(`s rejects ${name}`, () => {
    assert.throws(given, (error) => {
      assert.equal(String(error), expected);
      return true;
    });
  });
}
