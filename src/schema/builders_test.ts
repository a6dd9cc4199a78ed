import assert from "node:assert/strict";
import { type JsonSchema, s } from "./mod.ts";

// JavaScript and data from files can do what the compiler rejects.
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
    name: "string drops undefined keywords",
    given: s.string(any({ format: undefined })),
    expected: { type: "string" },
  },
  {
    name: "string accepts an enum",
    given: s.string({ enum: ["a", "b"], default: "a" }),
    expected: { type: "string", enum: ["a", "b"], default: "a" },
  },
  {
    name: "integer keeps its bounds",
    given: s.integer({ minimum: 0, maximum: 20, multipleOf: 2, default: 0, format: "int32" }),
    expected: { type: "integer", minimum: 0, maximum: 20, multipleOf: 2, default: 0, format: "int32" },
  },
  {
    name: "number accepts exclusive bounds",
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
    name: "object requires properties that are neither optional nor have a default",
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
  { name: "object without properties has no properties keyword", given: s.object({}), expected: { type: "object" } },
  {
    name: "intOrString equals the output of controller-gen",
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
  {
    name: "object keeps unknown fields with preserveUnknownFields",
    given: s.object({ a: s.string() }, { preserveUnknownFields: true, mapType: "atomic", maxProperties: 3 }),
    expected: {
      type: "object",
      properties: { a: { type: "string" } },
      required: ["a"],
      maxProperties: 3,
      "x-kubernetes-map-type": "atomic",
      "x-kubernetes-preserve-unknown-fields": true,
    },
  },
  {
    name: "intOrString moves its types to the first entry of allOf if there is an anyOf",
    given: s.intOrString({ anyOf: [{ minimum: 1 }, { pattern: "%$" }], allOf: [{ maximum: 9 }] }),
    expected: {
      allOf: [{ anyOf: [{ type: "integer" }, { type: "string" }] }, { maximum: 9 }],
      anyOf: [{ minimum: 1 }, { pattern: "%$" }],
      "x-kubernetes-int-or-string": true,
    },
  },
  {
    name: "quantity equals the output of controller-gen for resource.Quantity",
    given: s.quantity({ default: "2Gi" }),
    expected: {
      anyOf: [{ type: "integer" }, { type: "string" }],
      pattern:
        "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$",
      "x-kubernetes-int-or-string": true,
      default: "2Gi",
    },
  },
  {
    name: "duration has a format",
    given: s.duration({ maxLength: 9, default: "1h30m" }),
    expected: { type: "string", format: "duration", maxLength: 9, default: "1h30m" },
  },
  { name: "dateTime has a format", given: s.dateTime(), expected: { type: "string", format: "date-time" } },
  {
    name: "bytes are in base64",
    given: s.bytes({ default: "aGk=" }),
    expected: { type: "string", format: "byte", default: "aGk=" },
  },
  {
    name: "embeddedResource keeps all fields",
    given: s.embeddedResource(),
    expected: {
      type: "object",
      "x-kubernetes-embedded-resource": true,
      "x-kubernetes-preserve-unknown-fields": true,
    },
  },
  {
    name: "embeddedResource has the declared fields",
    given: s.embeddedResource({ data: s.map(s.string()), kind: s.literal("ConfigMap") }, { description: "D" }),
    expected: {
      type: "object",
      description: "D",
      properties: {
        data: { type: "object", additionalProperties: { type: "string" } },
        kind: { type: "string", enum: ["ConfigMap"] },
      },
      required: ["data", "kind"],
      "x-kubernetes-embedded-resource": true,
    },
  },
  {
    name: "every builder accepts annotations, rules and combinations",
    given: s.array(s.integer(), {
      title: "T",
      description: "D",
      deprecated: "use b",
      example: [1],
      externalDocs: { url: "https://example.com" },
      validations: [{ rule: "self.size() > 0", message: "M", reason: "FieldValueRequired" }],
      allOf: [{ maxItems: 3 }],
      anyOf: [{ items: { minimum: 1 } }],
      oneOf: [{ minItems: 2 }],
      not: { enum: [[1]] },
    }),
    expected: {
      type: "array",
      items: { type: "integer" },
      title: "T",
      description: "D\n\nDeprecated: use b",
      example: [1],
      externalDocs: { url: "https://example.com" },
      "x-kubernetes-validations": [{ rule: "self.size() > 0", message: "M", reason: "FieldValueRequired" }],
      allOf: [{ maxItems: 3 }],
      anyOf: [{ items: { minimum: 1 } }],
      oneOf: [{ minItems: 2 }],
      not: { enum: [[1]] },
    },
  },
  {
    name: "deprecated works without a description",
    given: s.boolean({ deprecated: "use b" }),
    expected: { type: "boolean", description: "Deprecated: use b" },
  },
];

for (const { name, given, expected } of CASES) {
  Deno.test(`s: ${name}`, () => {
    assert.deepEqual(given, expected);
    assert.deepEqual(JSON.parse(JSON.stringify(given)), expected);
  });
}

Deno.test("builders neither freeze nor keep their arguments", () => {
  const values = ["a"];
  const schema = s.string({ enum: values });
  values.push("b");

  assert.deepEqual(schema.enum, ["a"]);
  assert(Object.isFrozen(schema.enum));
});
