import assert from "node:assert/strict";
import { type JsonSchema, s } from "./mod.ts";

// What the compiler refuses can still happen in JavaScript, or to what comes from a file.
// deno-lint-ignore no-explicit-any
const any = (value: unknown): any => value;

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
    name: "a default out of the format's range",
    given: () => s.integer({ format: "int32", default: 2 ** 40 }),
    expected:
      'TypeError: Cannot make an integer schema: Invalid value: "": Checked value must be of type integer with format int32 in default',
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
      'SyntaxError: Cannot make a string schema: "pattern" must be a regular expression of RE2: "(": error parsing regexp: missing closing ): `(`',
  },
  {
    name: "a pattern that RE2 lacks",
    given: () => s.string({ pattern: "^(?!a)" }),
    expected:
      'SyntaxError: Cannot make a string schema: "pattern" must be a regular expression of RE2: "^(?!a)": error parsing regexp: invalid or unsupported Perl syntax: `(?!`',
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
      return s.object(any({ loop }));
    },
    expected: "TypeError: Cannot make an object schema: a value in it contains itself",
  },
  {
    name: "what contains itself in a combination",
    given: () => {
      const loop: { not?: object } = {};
      loop.not = loop;
      return s.string({ not: loop });
    },
    expected: "TypeError: Cannot make a string schema: a value in it contains itself",
  },
  {
    name: "a keyword of another type",
    given: () => s.string(any({ description: 3 })),
    expected: 'TypeError: Cannot make a string schema: "description" must be a string: current value is 3',
  },
  {
    name: "a keyword in a combination that there is not",
    given: () => s.string({ anyOf: [{ minLength: 1 }, any({ minLenght: 2 })] }),
    expected: 'TypeError: Cannot make a string schema: anyOf[1]: there is no option "minLenght"',
  },
  {
    name: "a pattern that RE2 lacks deep in a combination",
    given: () => s.object({ a: s.string() }, { not: { properties: { a: { pattern: "(?=a)" } } } }),
    expected:
      'SyntaxError: Cannot make an object schema: not.properties[a]: "pattern" must be a regular expression of RE2: "(?=a)": error parsing regexp: invalid or unsupported Perl syntax: `(?=`',
  },
  {
    name: "a rule without text",
    given: () => s.string({ validations: [{ rule: " " }] }),
    expected: 'TypeError: Cannot make a string schema: validations[0]: "rule" must be said',
  },
  {
    name: "a rule with a reason that there is not",
    given: () => s.string({ validations: [{ rule: "true" }, { rule: "true", reason: any("FieldValueNotFound") }] }),
    expected:
      'TypeError: Cannot make a string schema: validations[1]: "reason" must be one of "FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate": current value is "FieldValueNotFound"',
  },
  {
    name: "a rule with a key that there is not",
    given: () => s.string({ validations: [any({ rule: "true", mesage: "M" })] }),
    expected: 'TypeError: Cannot make a string schema: validations[0]: a rule has no "mesage"',
  },
  {
    name: "deprecated without a text",
    given: () => s.string(any({ deprecated: true })),
    expected:
      'TypeError: Cannot make a string schema: "deprecated" must be a text that says what to use instead: current value is true',
  },
  {
    name: "a key of a list that is listed twice",
    given: () => s.array(s.object({ k: s.string() }), { listType: "map", listMapKeys: ["k", "k"] }),
    expected: 'TypeError: Cannot make an array schema: "listMapKeys" lists "k" twice',
  },
  {
    name: "a kind of list that there is not",
    given: () => s.array(s.string(), { listType: any("bag") }),
    expected:
      'TypeError: Cannot make an array schema: "x-kubernetes-list-type" must be one of "atomic", "set", "map": current value is "bag"',
  },
  {
    name: "a default that is no quantity",
    given: () => s.quantity({ default: "2GiB" }),
    expected:
      "TypeError: Cannot make a quantity schema: default: Invalid value: \"2GiB\": default should match '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$'",
  },
  {
    name: "a default that is no duration",
    given: () => s.duration({ default: "soon" }),
    expected:
      'TypeError: Cannot make a duration schema: default: Invalid value: "soon": default must be of type duration: "soon"',
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
