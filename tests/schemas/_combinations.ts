/** Schemas with `allOf`, `anyOf`, `oneOf` and `not`, with valid and invalid values. */
import type { JsonSchema } from "../../src/schema/json_schema.ts";

/** A schema, and values that are valid and invalid because of its combination. */
export interface Combination {
  readonly schema: JsonSchema;
  readonly valid: readonly unknown[];
  readonly invalid: readonly unknown[];
}

const AB = { a: { type: "string" }, b: { type: "integer" }, c: { type: "boolean" } } as const;

/** Schemas by the keyword that combines them. */
export const COMBINATIONS: Readonly<Record<string, readonly Combination[]>> = {
  anyOf: [
    {
      schema: { type: "string", anyOf: [{ pattern: "^a" }, { maxLength: 2 }] },
      valid: ["abc", "b"],
      invalid: ["bcd", "xyz0"],
    },
    {
      schema: { type: "integer", anyOf: [{ maximum: -10 }, { minimum: 10 }, { enum: [0] }] },
      valid: [0, 10, -11],
      invalid: [1, -9],
    },
    {
      schema: { type: "object", properties: AB, anyOf: [{ required: ["a"] }, { required: ["b"] }] },
      valid: [{ a: "" }, { b: 1 }, { a: "", b: 1 }],
      invalid: [{}, { c: true }],
    },
    {
      schema: { type: "array", items: { type: "integer" }, anyOf: [{ minItems: 4 }, { maxItems: 1 }] },
      valid: [[], [1, 2, 3, 4]],
      invalid: [[1, 2], [1, 2, 3]],
    },
    {
      schema: {
        type: "object",
        properties: AB,
        anyOf: [{ properties: { a: { enum: ["x", "y"] } } }, { properties: { b: { minimum: 5 } }, required: ["b"] }],
      },
      valid: [{ a: "x" }, { a: "z", b: 6 }, {}],
      invalid: [{ a: "z", b: 1 }, { a: "z" }],
    },
    {
      schema: { type: "string", anyOf: [{ format: "ipv4" }, { format: "ipv6" }] },
      valid: ["10.0.0.1", "::1"],
      invalid: ["a", "10.0.0"],
    },
    {
      schema: {
        type: "array",
        items: { type: "string" },
        anyOf: [{ items: { pattern: "^a" } }, { items: { pattern: "^b" } }],
      },
      valid: [["a"], ["b", "b"], []],
      invalid: [["a", "b"], ["c"]],
    },
    {
      schema: {
        type: "object",
        additionalProperties: { type: "integer" },
        anyOf: [{ minProperties: 3 }, { maxProperties: 1 }],
      },
      valid: [{ x: 6 }, { x: 1, y: 1, z: 1 }, {}],
      invalid: [{ x: 1, y: 2 }],
    },
  ],
  oneOf: [
    {
      schema: { type: "integer", oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] },
      valid: [2, 3, 4, 9],
      invalid: [1, 5, 6, 12],
    },
    {
      schema: {
        type: "object",
        properties: AB,
        oneOf: [{ required: ["a"] }, { required: ["b"] }, { required: ["c"] }],
      },
      valid: [{ a: "" }, { c: false }],
      invalid: [{}, { a: "", b: 1 }, { a: "", b: 1, c: true }],
    },
    {
      schema: { type: "string", oneOf: [{ minLength: 3 }, { pattern: "z$" }] },
      valid: ["abc", "z"],
      invalid: ["a", "abz", ""],
    },
    {
      schema: {
        type: "object",
        properties: AB,
        oneOf: [{ required: ["a"], not: { required: ["b"] } }, { required: ["b"], properties: { b: { maximum: 3 } } }],
      },
      valid: [{ a: "" }, { b: 1 }, { a: "", b: 2 }],
      invalid: [{}, { b: 4 }, { a: "", b: 4 }],
    },
    {
      schema: {
        type: "array",
        items: { type: "object", properties: AB },
        oneOf: [{ minItems: 2 }, { items: { required: ["a"] } }],
      },
      valid: [[{ a: "" }], [{}, {}]],
      invalid: [[{}], [{ a: "" }, { a: "" }]],
    },
  ],
  allOf: [
    {
      schema: { type: "integer", allOf: [{ minimum: 1 }, { maximum: 9 }, { multipleOf: 3 }] },
      valid: [3, 6, 9],
      invalid: [0, 4, 12],
    },
    {
      schema: { type: "string", allOf: [{ minLength: 2 }, { pattern: "^[a-z]*$" }, { not: { enum: ["no"] } }] },
      valid: ["ab"],
      invalid: ["a", "AB", "no"],
    },
    {
      schema: {
        type: "object",
        properties: AB,
        allOf: [{ required: ["a"] }, { anyOf: [{ required: ["b"] }, { required: ["c"] }] }],
      },
      valid: [{ a: "", b: 1 }, { a: "", c: true }],
      invalid: [{ a: "" }, { b: 1 }, {}],
    },
    {
      schema: {
        type: "object",
        properties: AB,
        allOf: [{ properties: { a: { maxLength: 2 } } }, { properties: { b: { minimum: 5, exclusiveMinimum: true } } }],
      },
      valid: [{ a: "x" }, {}],
      invalid: [{ a: "xyz" }, { b: 5 }, { a: "xyz", b: 1 }],
    },
    {
      schema: { type: "array", items: { type: "string" }, allOf: [{ minItems: 1 }, { items: { minLength: 2 } }] },
      valid: [["ab"]],
      invalid: [[], ["a"], ["ab", "a"]],
    },
  ],
  not: [
    {
      schema: { type: "string", not: { enum: ["default", "kube-system"] } },
      valid: ["a", "defaults"],
      invalid: ["default", "kube-system"],
    },
    { schema: { type: "string", not: { pattern: "^kube-" } }, valid: ["a", "xkube-"], invalid: ["kube-", "kube-a"] },
    {
      schema: { type: "object", properties: AB, not: { required: ["a", "b"] } },
      valid: [{}, { a: "" }, { b: 1 }],
      invalid: [{ a: "", b: 1 }, { a: "", b: 2, c: true }],
    },
    { schema: { type: "integer", not: { minimum: 5, maximum: 9 } }, valid: [4, 10], invalid: [5, 7, 9] },
    {
      schema: {
        type: "object",
        properties: AB,
        not: { anyOf: [{ required: ["a"] }, { properties: { b: { enum: [3] } }, required: ["b"] }] },
      },
      valid: [{}, { b: 1 }, { c: true }],
      invalid: [{ a: "" }, { b: 3 }],
    },
    {
      schema: { type: "array", items: { type: "integer" }, not: { items: { minimum: 0 } } },
      valid: [[-1], [1, -1]],
      invalid: [[], [1], [0, 2]],
    },
  ],
};
