import assert from "node:assert/strict";
import { type JsonSchema, s } from "./mod.ts";

// JavaScript and data from files can do what the compiler rejects.
// deno-lint-ignore no-explicit-any
const any = (value: unknown): any => value;

const REJECTED: { name: string; given: () => unknown; expected: string }[] = [
  {
    name: "a default above the maximum",
    given: () => s.integer({ maximum: 3, default: 5 }),
    expected:
      "TypeError: Cannot define an integer schema: default: Invalid value: 5: default should be less than or equal to 3",
  },
  {
    name: "a default of another type",
    given: () => s.string({ default: any(1) }),
    expected:
      'TypeError: Cannot define a string schema: default: Invalid value: "integer": default must be of type string: "integer"',
  },
  {
    name: "a default outside of the format's range",
    given: () => s.integer({ format: "int32", default: 2 ** 40 }),
    expected:
      'TypeError: Cannot define an integer schema: Invalid value: "": Checked value must be of type integer with format int32 in default',
  },
  {
    name: "a default that lacks a property",
    given: () => s.object({ a: s.string() }, { default: any({}) }),
    expected: "TypeError: Cannot define an object schema: default.a: Required value",
  },
  {
    name: "a default with an unknown property",
    given: () => s.object({ a: s.array(s.object({})) }, { default: { a: [{ b: 1 }] } }),
    expected: "TypeError: Cannot define an object schema: default.a[0].b: unknown field",
  },
  {
    name: "bounds that exclude all values",
    given: () => s.integer({ minimum: 4, maximum: 3 }),
    expected:
      'RangeError: Cannot define an integer schema: no value is between "minimum" 4 and "maximum" 3. Change one of the bounds',
  },
  {
    name: "equal bounds with one exclusive bound",
    given: () => s.number({ minimum: 3, maximum: 3, exclusiveMaximum: true }),
    expected:
      'RangeError: Cannot define a number schema: no value is between "minimum" 3 and "maximum" 3. Change one of the bounds',
  },
  {
    name: "a negative length",
    given: () => s.array(s.string(), { minItems: -1 }),
    expected: 'RangeError: Cannot define an array schema: "minItems" must be an integer of 0 or more, got -1',
  },
  {
    name: "a multiple of zero",
    given: () => s.number({ multipleOf: 0 }),
    expected: 'RangeError: Cannot define a number schema: "multipleOf" must be above 0, got 0',
  },
  {
    name: "an exclusive bound without the bound",
    given: () => s.number({ exclusiveMaximum: true }),
    expected:
      'RangeError: Cannot define a number schema: "exclusiveMaximum" has no effect without "maximum". Add "maximum"',
  },
  {
    name: "an invalid pattern",
    given: () => s.string({ pattern: "(" }),
    expected:
      'SyntaxError: Cannot define a string schema: "pattern" must be a valid RE2 regular expression: "(": error parsing regexp: missing closing ): `(`',
  },
  {
    name: "a pattern that RE2 does not support",
    given: () => s.string({ pattern: "^(?!a)" }),
    expected:
      'SyntaxError: Cannot define a string schema: "pattern" must be a valid RE2 regular expression: "^(?!a)": error parsing regexp: invalid or unsupported Perl syntax: `(?!`',
  },
  {
    name: "an empty enum",
    given: () => s.enum([]),
    expected: 'TypeError: Cannot define an enum schema: "enum" must list at least one value',
  },
  {
    name: "an enum with a duplicate value",
    given: () => s.enum(["a", "b", "a"]),
    expected: 'TypeError: Cannot define an enum schema: "enum" lists "a" twice',
  },
  {
    name: "an enum of mixed types",
    given: () => s.enum(["a", 1]),
    expected:
      'TypeError: Cannot define an enum schema: enum: Invalid value: "integer": enum must be of type string: "integer"',
  },
  {
    name: "a default that is not in the enum",
    given: () => s.enum(["a"], { default: any("b") }),
    expected: 'TypeError: Cannot define an enum schema: default: Unsupported value: "b": supported values: "a"',
  },
  {
    name: "an empty property name",
    given: () => s.object({ "": s.string() }),
    expected: "TypeError: Cannot define an object schema: a property name is empty",
  },
  {
    name: "a property named __proto__",
    given: () => s.object({ ["__proto__"]: s.string() }),
    expected:
      'TypeError: Cannot define an object schema: properties must be a plain object, without a property named "__proto__"',
  },
  {
    name: "__proto__ as a prototype",
    given: () => s.object(any({ __proto__: s.string() })),
    expected:
      'TypeError: Cannot define an object schema: properties must be a plain object, without a property named "__proto__"',
  },
  {
    name: "a property that is not a schema",
    given: () => s.object({ a: any("string") }),
    expected: 'TypeError: Cannot define an object schema: property "a" must be a schema, such as s.string()',
  },
  {
    name: "optional items",
    given: () => s.array(any(s.optional(s.string()))),
    expected: "TypeError: Cannot define an array schema: items must not be optional: only properties can be",
  },
  {
    name: "an optional property with a default",
    given: () => s.optional(any(s.string({ default: "" }))),
    expected:
      "TypeError: Cannot make a schema optional: it has a default, so it is never missing. Remove the default or s.optional()",
  },
  {
    name: "a list map key that may be missing",
    given: () => s.array(s.object({ k: s.optional(s.string()) }), { listType: "map", listMapKeys: ["k"] }),
    expected:
      'TypeError: Cannot define an array schema: the list map key "k" may be missing. Make the property required, or add a default',
  },
  {
    name: "a list of type map without keys",
    given: () => s.array(s.object({ k: s.string() }), { listType: "map" }),
    expected: 'TypeError: Cannot define an array schema: a list of type "map" requires "listMapKeys"',
  },
  {
    name: "keys of a list that is not of type map",
    given: () => s.array(s.object({ k: s.string() }), { listMapKeys: ["k"] }),
    expected:
      'TypeError: Cannot define an array schema: "listMapKeys" requires a list of type "map". Add listType: "map"',
  },
  {
    name: "a set of objects",
    given: () => s.array(s.object({}), { listType: "set" }),
    expected:
      'TypeError: Cannot define an array schema: items of a list of type "set" must be scalars, not objects. Use the list type "map" with keys',
  },
  {
    name: "an unknown option",
    given: () => s.string(any({ minimun: 3 })),
    expected: 'TypeError: Cannot define a string schema: unknown option "minimun"',
  },
  {
    name: "a value that is not JSON",
    given: () => s.array(s.string(), { default: any(() => []) }),
    expected: "TypeError: Cannot define an array schema: a function is not JSON",
  },
  {
    name: "a number that is not JSON",
    given: () => s.number({ maximum: Infinity }),
    expected: "TypeError: Cannot define a number schema: Infinity is not JSON",
  },
  {
    name: "a value that contains itself",
    given: () => {
      const loop: JsonSchema = { type: "object" };
      Object.assign(loop, { properties: { loop } });
      return s.object(any({ loop }));
    },
    expected: "TypeError: Cannot define an object schema: a nested value contains itself",
  },
  {
    name: "a value in a combination that contains itself",
    given: () => {
      const loop: { not?: object } = {};
      loop.not = loop;
      return s.string({ not: loop });
    },
    expected: "TypeError: Cannot define a string schema: a nested value contains itself",
  },
  {
    name: "a keyword of a wrong type",
    given: () => s.string(any({ description: 3 })),
    expected: 'TypeError: Cannot define a string schema: "description" must be a string, got 3',
  },
  {
    name: "an unknown keyword in a combination",
    given: () => s.string({ anyOf: [{ minLength: 1 }, any({ minLenght: 2 })] }),
    expected: 'TypeError: Cannot define a string schema: anyOf[1]: unknown option "minLenght"',
  },
  {
    name: "a pattern that RE2 does not support in a nested combination",
    given: () => s.object({ a: s.string() }, { not: { properties: { a: { pattern: "(?=a)" } } } }),
    expected:
      'SyntaxError: Cannot define an object schema: not.properties[a]: "pattern" must be a valid RE2 regular expression: "(?=a)": error parsing regexp: invalid or unsupported Perl syntax: `(?=`',
  },
  {
    name: "a rule without an expression",
    given: () => s.string({ validations: [{ rule: " " }] }),
    expected: 'TypeError: Cannot define a string schema: validations[0]: "rule" must be a CEL expression',
  },
  {
    name: "a rule with an unknown reason",
    given: () => s.string({ validations: [{ rule: "true" }, { rule: "true", reason: any("FieldValueNotFound") }] }),
    expected:
      'TypeError: Cannot define a string schema: validations[1]: "reason" must be one of "FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate", got "FieldValueNotFound"',
  },
  {
    name: "a rule with an unknown field",
    given: () => s.string({ validations: [any({ rule: "true", mesage: "M" })] }),
    expected: 'TypeError: Cannot define a string schema: validations[0]: unknown field "mesage"',
  },
  {
    name: "deprecated with a boolean",
    given: () => s.string(any({ deprecated: true })),
    expected:
      'TypeError: Cannot define a string schema: "deprecated" must be a string that names the replacement, got true',
  },
  {
    name: "a duplicate list map key",
    given: () => s.array(s.object({ k: s.string() }), { listType: "map", listMapKeys: ["k", "k"] }),
    expected: 'TypeError: Cannot define an array schema: "listMapKeys" lists "k" twice',
  },
  {
    name: "an unknown list type",
    given: () => s.array(s.string(), { listType: any("bag") }),
    expected:
      'TypeError: Cannot define an array schema: "x-kubernetes-list-type" must be one of "atomic", "set", "map", got "bag"',
  },
  {
    name: "a default that is not a quantity",
    given: () => s.quantity({ default: "2GiB" }),
    expected:
      "TypeError: Cannot define a quantity schema: default: Invalid value: \"2GiB\": default should match '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$'",
  },
  {
    name: "a default that is not a duration",
    given: () => s.duration({ default: "soon" }),
    expected:
      'TypeError: Cannot define a duration schema: default: Invalid value: "soon": default must be of type duration: "soon"',
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
