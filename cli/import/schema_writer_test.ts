import assert from "node:assert/strict";
import { s } from "@op/sdk";
import type { JsonSchema } from "@op/sdk/resource";
import { definitionOf, HEADER, site } from "./_definition_of.ts";
import { lossesOf } from "./losses.ts";
import { moduleOf } from "./module.ts";

const STRING: JsonSchema = { type: "string" };
const CASES: { readonly name: string; readonly given: JsonSchema; readonly expected: string }[] = [
  { name: "a string", given: STRING, expected: "s.string()" },
  {
    name: "a string with keywords",
    given: { type: "string", minLength: 1, maxLength: 9, pattern: '^"\\d+"$', description: "Of digits." },
    expected: String.raw`s.string({ description: "Of digits.", minLength: 1, maxLength: 9, pattern: '^"\\d+"$' })`,
  },
  {
    name: "a deprecated string",
    given: { type: "string", description: "A name.\n\nOf letters.\n\nDeprecated: use title" },
    expected: String.raw`s.string({ description: "A name.\n\n" + "Of letters.", deprecated: "use title" })`,
  },
  {
    name: "an integer without keywords",
    given: { type: "integer", description: "Deprecated: use size" },
    expected: 's.integer({ deprecated: "use size" })',
  },
  { name: "an enum", given: { type: "string", enum: ["a", "b"] }, expected: 's.enum(["a", "b"])' },
  { name: "an enum of numbers", given: { type: "integer", enum: [1, 2] }, expected: "s.enum([1, 2])" },
  { name: "an enum with one value", given: { type: "string", enum: ["a"] }, expected: 's.literal("a")' },
  {
    name: "an enum with a maximum length",
    given: { type: "string", enum: ["a", "b"], maxLength: 3 },
    expected: 's.string({ enum: ["a", "b"], maxLength: 3 })',
  },
  { name: "a known format", given: { type: "string", format: "ipv4" }, expected: 's.string({ format: "ipv4" })' },
  { name: "a timestamp", given: { type: "string", format: "date-time" }, expected: "s.dateTime()" },
  { name: "a duration", given: { type: "string", format: "duration" }, expected: "s.duration()" },
  { name: "bytes", given: { type: "string", format: "byte" }, expected: "s.bytes()" },
  {
    name: "a format that servers do not know",
    given: { type: "string", format: "animal" },
    expected: 's.raw({ type: "string", format: "animal" })',
  },
  {
    name: "an integer",
    given: { type: "integer", format: "int64", minimum: -1, maximum: 4294967295 },
    expected: 's.integer({ format: "int64", minimum: -1, maximum: 4_294_967_295 })',
  },
  { name: "a number", given: { type: "number", multipleOf: 0.5 }, expected: "s.number({ multipleOf: 0.5 })" },
  { name: "a boolean", given: { type: "boolean" }, expected: "s.boolean()" },
  {
    name: "a nullable value",
    given: { type: "string", nullable: true, maxLength: 3 },
    expected: "s.nullable(s.string({ maxLength: 3 }))",
  },
  {
    name: "a set",
    given: { type: "array", items: STRING, maxItems: 3, "x-kubernetes-list-type": "set" },
    expected: 's.array(s.string(), { maxItems: 3, listType: "set" })',
  },
  {
    name: "a map",
    given: { type: "object", additionalProperties: STRING, "x-kubernetes-map-type": "atomic" },
    expected: 's.map(s.string(), { mapType: "atomic" })',
  },
  { name: "an object without properties", given: { type: "object" }, expected: "s.object({})" },
  {
    name: "an object",
    given: { type: "object", properties: { a: STRING, "b-c": STRING }, required: ["b-c"], minProperties: 1 },
    expected: 's.object({ a: s.optional(s.string()), "b-c": s.string() }, { minProperties: 1 })',
  },
  {
    name: "an object that preserves unknown fields",
    given: { type: "object", properties: { a: STRING }, "x-kubernetes-preserve-unknown-fields": true },
    expected: "s.object({ a: s.optional(s.string()) }, { preserveUnknownFields: true })",
  },
  {
    name: "any object",
    given: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    expected: 's.anything({ type: "object" })',
  },
  { name: "any value", given: { "x-kubernetes-preserve-unknown-fields": true }, expected: "s.anything()" },
  {
    name: "an embedded resource",
    given: {
      type: "object",
      "x-kubernetes-embedded-resource": true,
      "x-kubernetes-preserve-unknown-fields": true,
      description: "Any.",
    },
    expected: 's.embeddedResource({}, { description: "Any." })',
  },
  {
    name: "an integer or a string",
    given: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
    expected: "s.intOrString()",
  },
  {
    name: "a quantity",
    given: s.quantity({ description: "Of it." }),
    expected: 's.quantity({ description: "Of it." })',
  },
  {
    name: "an integer or a string with bounds",
    given: s.intOrString({ minLength: 1, maxLength: 4, minimum: 0, maximum: 9 }),
    expected: "s.intOrString({ minimum: 0, maximum: 9, minLength: 1, maxLength: 4 })",
  },
  {
    name: "a quantity with a maximum length",
    given: s.quantity({ maxLength: 20 }),
    expected: "s.quantity({ maxLength: 20 })",
  },
  {
    name: "a rule",
    given: { type: "integer", "x-kubernetes-validations": [{ message: "must be even", rule: "self % 2 == 0" }] },
    expected: 's.integer({ validations: [{ rule: "self % 2 == 0", message: "must be even" }] })',
  },
  {
    name: "exactly one of some properties",
    given: {
      type: "object",
      properties: { a: STRING, b: STRING },
      oneOf: [{ required: ["a"] }, { required: ["b"] }],
    },
    expected: `s.exactlyOneOf(
      s.object({ a: s.optional(s.string()), b: s.optional(s.string()) }),
      ["a", "b"],
      { as: "schema" },
    )`,
  },
  {
    name: "at most one of some properties, as generators for protocol buffers write it",
    given: {
      type: "object",
      properties: { a: STRING, b: STRING },
      oneOf: [{ not: { anyOf: [{ required: ["a"] }, { required: ["b"] }] } }, { required: ["a"] }, { required: ["b"] }],
    },
    expected: `s.atMostOneOf(
      s.object({ a: s.optional(s.string()), b: s.optional(s.string()) }),
      ["a", "b"],
      { as: "schema" },
    )`,
  },
  {
    name: "at least one of some properties, and at most one of others",
    given: {
      type: "object",
      properties: { a: STRING, b: STRING, c: STRING, d: STRING },
      anyOf: [{ required: ["a"] }, { required: ["b"] }],
      not: { required: ["c", "d"] },
    },
    expected: `s.atLeastOneOf(
      s.atMostOneOf(
        s.object({
          a: s.optional(s.string()),
          b: s.optional(s.string()),
          c: s.optional(s.string()),
          d: s.optional(s.string()),
        }),
        ["c", "d"],
        { as: "schema" },
      ),
      ["a", "b"],
      { as: "schema" },
    )`,
  },
  {
    name: "exactly one of some properties, by a rule",
    given: s.exactlyOneOf(s.object({ a: s.optional(s.string()), b: s.optional(s.string()) }), ["a", "b"]),
    expected: `s.exactlyOneOf(
      s.object({ a: s.optional(s.string()), b: s.optional(s.string()) }),
      ["a", "b"],
    )`,
  },
  {
    name: "an anyOf for which there is no builder",
    given: { type: "integer", anyOf: [{ maximum: 1 }, { minimum: 5 }] },
    expected: "s.integer({ anyOf: [{ maximum: 1 }, { minimum: 5 }] })",
  },
  {
    name: "required names without a property",
    given: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { a: STRING }, required: ["b"] },
    expected: `s.object({ a: s.optional(s.string()) }, {
      preserveUnknownFields: true,
      allOf: [{ required: ["b"] }],
    })`,
  },
  {
    name: "an immutable property, by two rules",
    given: s.object({ a: s.optional(s.immutable(s.string())), b: s.immutable(s.string()) }),
    expected: "s.object({ a: s.optional(s.immutable(s.string())), b: s.immutable(s.string()) })",
  },
  {
    name: "an immutable property that can be removed",
    given: {
      type: "object",
      properties: { a: { ...STRING, "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "no" }] } },
    },
    expected: `s.object({
      a: s.optional(s.string({ validations: [{ rule: "self == oldSelf", message: "no" }] })),
    })`,
  },
];

Deno.test("moduleOf() writes schemas with builders", async (t) => {
  for (const { name, given, expected } of CASES) {
    await t.step(name, () => {
      const definition = definitionOf({ type: "object", properties: { it: given, other: STRING } });
      const { text, kinds } = moduleOf([definition]);

      const property = `s.optional(${expected})`;
      assert.equal(
        withoutSpaces(text),
        withoutSpaces(`${HEADER}\n${site(`spec: s.object({ it: ${property}, other: s.optional(s.string()) }),`)}`),
      );
      assert.deepEqual(lossesOf(definition, kinds[0]!.crd), []);
    });
  }
});

/** Removes line breaks, which are tested with the printer. */
function withoutSpaces(text: string): string {
  return text.replaceAll(/\s+/g, "").replaceAll(/,(?=[)\]}])/g, "");
}
