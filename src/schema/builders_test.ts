import assert from "node:assert/strict";
import { type JsonSchema, s } from "./mod.ts";

// What the compiler refuses can still happen in JavaScript, or to what comes from a file.
// deno-lint-ignore no-explicit-any
const any = (value: unknown): any => value;

const CASES: { name: string; given: JsonSchema; expected: unknown }[] = [
  {
    name: "string keeps its keywords",
    given: s.string({ format: "hostname", minLength: 1, maxLength: 9, pattern: "^a", title: "T", example: "a" }),
    expected: {
      type: "string",
      format: "hostname",
      minLength: 1,
      maxLength: 9,
      pattern: "^a",
      title: "T",
      example: "a",
    },
  },
  {
    name: "string drops what is undefined",
    given: s.string(any({ format: undefined })),
    expected: { type: "string" },
  },
  {
    name: "string takes an enum",
    given: s.string({ enum: ["a", "b"], default: "a" }),
    expected: { type: "string", enum: ["a", "b"], default: "a" },
  },
  {
    name: "integer keeps its bounds",
    given: s.integer({ minimum: 0, maximum: 20, multipleOf: 2, default: 0, format: "int32" }),
    expected: { type: "integer", minimum: 0, maximum: 20, multipleOf: 2, default: 0, format: "int32" },
  },
  {
    name: "number takes open bounds",
    given: s.number({ minimum: 0, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: true }),
    expected: { type: "number", minimum: 0, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: true },
  },
  {
    name: "boolean has a default",
    given: s.boolean({ default: false }),
    expected: { type: "boolean", default: false },
  },
  { name: "enum of strings", given: s.enum(["a", "b"]), expected: { type: "string", enum: ["a", "b"] } },
  { name: "enum of integers", given: s.enum([1, 2]), expected: { type: "integer", enum: [1, 2] } },
  { name: "enum of numbers", given: s.enum([1, 2.5]), expected: { type: "number", enum: [1, 2.5] } },
  { name: "literal is an enum of one", given: s.literal(true), expected: { type: "boolean", enum: [true] } },
  {
    name: "array of type map has keys",
    given: s.array(s.object({ name: s.string(), port: s.integer({ default: 80 }) }), {
      listType: "map",
      listMapKeys: ["name", "port"],
      maxItems: 3,
    }),
    expected: {
      type: "array",
      items: {
        type: "object",
        properties: { name: { type: "string" }, port: { type: "integer", default: 80 } },
        required: ["name"],
      },
      maxItems: 3,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name", "port"],
    },
  },
  {
    name: "map has a schema of values",
    given: s.map(s.string({ maxLength: 3 }), { maxProperties: 2, mapType: "atomic" }),
    expected: {
      type: "object",
      additionalProperties: { type: "string", maxLength: 3 },
      maxProperties: 2,
      "x-kubernetes-map-type": "atomic",
    },
  },
  {
    name: "object requires what is neither optional nor defaulted",
    given: s.object({
      a: s.string(),
      b: s.optional(s.string()),
      c: s.string({ default: "" }),
      d: s.nullable(s.optional(s.string())),
      e: s.optional(s.nullable(s.string())),
    }),
    expected: {
      type: "object",
      properties: {
        a: { type: "string" },
        b: { type: "string" },
        c: { type: "string", default: "" },
        d: { type: "string", nullable: true },
        e: { type: "string", nullable: true },
      },
      required: ["a"],
    },
  },
  { name: "object without properties says none", given: s.object({}), expected: { type: "object" } },
  {
    name: "intOrString is what controller-gen writes",
    given: s.intOrString({ default: "25%" }),
    expected: {
      anyOf: [{ type: "integer" }, { type: "string" }],
      "x-kubernetes-int-or-string": true,
      default: "25%",
    },
  },
  {
    name: "anything of type object keeps unknown fields",
    given: s.anything({ type: "object" }),
    expected: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  },
];

for (const { name, given, expected } of CASES) {
  Deno.test(`s: ${name}`, () => {
    assert.deepEqual(given, expected);
    assert.deepEqual(JSON.parse(JSON.stringify(given)), expected);
  });
}

Deno.test("s.object keeps which properties of another object are optional", () => {
  const point = s.object({ x: s.number(), y: s.optional(s.number()), z: s.number({ default: 0 }) });

  assert.deepEqual(s.object({ ...point.properties, name: s.string() }).required, ["x", "name"]);
});

Deno.test("s does not freeze or keep what it is handed", () => {
  const values = ["a"];
  const schema = s.string({ enum: values });
  values.push("b");

  assert.deepEqual(schema.enum, ["a"]);
  assert(Object.isFrozen(schema.enum));
});

const REFUSED: { name: string; given: () => unknown; expected: string }[] = [
  {
    name: "a default above the maximum",
    given: () => s.integer({ maximum: 3, default: 5 }),
    expected:
      "TypeError: Cannot make an integer schema: default: Invalid value: 5: default should be less than or equal to 3",
  },
  {
    name: "a default of another type",
    given: () => s.string({ default: any(1) }),
    expected:
      'TypeError: Cannot make a string schema: default: Invalid value: "integer": default must be of type string: "integer"',
  },
  {
    name: "a default that lacks a property",
    given: () => s.object({ a: s.string() }, { default: any({}) }),
    expected: "TypeError: Cannot make an object schema: default.a: Required value",
  },
  {
    name: "a default with a property that is not in the schema",
    given: () => s.object({ a: s.array(s.object({})) }, { default: { a: [{ b: 1 }] } }),
    expected: "TypeError: Cannot make an object schema: default.a[0].b: it is not in the schema",
  },
  {
    name: "bounds that leave nothing",
    given: () => s.integer({ minimum: 4, maximum: 3 }),
    expected:
      'RangeError: Cannot make an integer schema: no value is between "minimum" 4 and "maximum" 3: swap or change them',
  },
  {
    name: "equal bounds of which one is open",
    given: () => s.number({ minimum: 3, maximum: 3, exclusiveMaximum: true }),
    expected:
      'RangeError: Cannot make a number schema: no value is between "minimum" 3 and "maximum" 3: swap or change them',
  },
  {
    name: "a negative length",
    given: () => s.array(s.string(), { minItems: -1 }),
    expected:
      'RangeError: Cannot make an array schema: "minItems" must be an integer of 0 or more: current value is -1',
  },
  {
    name: "a multiple of nothing",
    given: () => s.number({ multipleOf: 0 }),
    expected: 'RangeError: Cannot make a number schema: "multipleOf" must be above 0: current value is 0',
  },
  {
    name: "an open bound without the bound",
    given: () => s.number({ exclusiveMaximum: true }),
    expected:
      'RangeError: Cannot make a number schema: "exclusiveMaximum" says whether "maximum" itself is allowed: give "maximum"',
  },
  {
    name: "a pattern that is none",
    given: () => s.string({ pattern: "(" }),
    expected:
      'SyntaxError: Cannot make a string schema: "(" is not a pattern: Invalid regular expression: /(/: Unterminated group',
  },
  {
    name: "a pattern that RE2 lacks",
    given: () => s.string({ pattern: "^(?!a)" }),
    expected:
      'SyntaxError: Cannot make a string schema: "^(?!a)" has lookaround or a backreference, which RE2 of the API server lacks',
  },
  {
    name: "an enum of nothing",
    given: () => s.enum([]),
    expected: 'TypeError: Cannot make an enum schema: "enum" must list at least one value',
  },
  {
    name: "an enum with a value twice",
    given: () => s.enum(["a", "b", "a"]),
    expected: 'TypeError: Cannot make an enum schema: "enum" lists "a" twice',
  },
  {
    name: "an enum of several types",
    given: () => s.enum(["a", 1]),
    expected:
      'TypeError: Cannot make an enum schema: enum: Invalid value: "integer": enum must be of type string: "integer"',
  },
  {
    name: "a default that is not in the enum",
    given: () => s.enum(["a"], { default: any("b") }),
    expected: 'TypeError: Cannot make an enum schema: default: Unsupported value: "b": supported values: "a"',
  },
  {
    name: "an empty name",
    given: () => s.object({ "": s.string() }),
    expected: "TypeError: Cannot make an object schema: the name of a property is empty",
  },
  {
    name: "__proto__ as a name",
    given: () => s.object({ ["__proto__"]: s.string() }),
    expected: 'TypeError: Cannot make an object schema: properties must be a plain object, and "__proto__" is no name',
  },
  {
    name: "__proto__ as a prototype",
    given: () => s.object(any({ __proto__: s.string() })),
    expected: 'TypeError: Cannot make an object schema: properties must be a plain object, and "__proto__" is no name',
  },
  {
    name: "a property that is no schema",
    given: () => s.object({ a: any("string") }),
    expected: 'TypeError: Cannot make an object schema: property "a" must be a schema, such as s.string()',
  },
  {
    name: "optional items",
    given: () => s.array(any(s.optional(s.string()))),
    expected: "TypeError: Cannot make an array schema: items cannot be optional: only a property can",
  },
  {
    name: "an optional with a default",
    given: () => s.optional(any(s.string({ default: "" }))),
    expected:
      "TypeError: Cannot make a schema optional: it has a default, so that it is never missing: take one of the two away",
  },
  {
    name: "a key of a list that may be missing",
    given: () => s.array(s.object({ k: s.optional(s.string()) }), { listType: "map", listMapKeys: ["k"] }),
    expected:
      'TypeError: Cannot make an array schema: the list\'s key "k" may be missing: make it required or give it a default',
  },
  {
    name: "a list of type map without keys",
    given: () => s.array(s.object({ k: s.string() }), { listType: "map" }),
    expected: 'TypeError: Cannot make an array schema: a list of type "map" needs "listMapKeys"',
  },
  {
    name: "keys of a list that has none",
    given: () => s.array(s.object({ k: s.string() }), { listMapKeys: ["k"] }),
    expected: 'TypeError: Cannot make an array schema: "listMapKeys" is for lists of type "map": add listType: "map"',
  },
  {
    name: "a set of objects",
    given: () => s.array(s.object({}), { listType: "set" }),
    expected:
      'TypeError: Cannot make an array schema: items of a list of type "set" must be scalars, not objects: use "map" with keys',
  },
  {
    name: "an option that there is not",
    given: () => s.string(any({ minimun: 3 })),
    expected: 'TypeError: Cannot make a string schema: there is no option "minimun"',
  },
  {
    name: "what is not JSON",
    given: () => s.array(s.string(), { default: any(() => []) }),
    expected: "TypeError: Cannot make an array schema: a function is not JSON",
  },
  {
    name: "a number that is not JSON",
    given: () => s.number({ maximum: Infinity }),
    expected: "TypeError: Cannot make a number schema: Infinity is not JSON",
  },
  {
    name: "what contains itself",
    given: () => {
      const loop: JsonSchema = { type: "object" };
      Object.assign(loop, { properties: { loop } });
      return s.object({ loop });
    },
    expected: "TypeError: Cannot make an object schema: a value in it contains itself",
  },
];

for (const { name, given, expected } of REFUSED) {
  Deno.test(`s refuses ${name}`, () => {
    assert.throws(given, (error) => {
      assert.equal(String(error), expected);
      return true;
    });
  });
}
