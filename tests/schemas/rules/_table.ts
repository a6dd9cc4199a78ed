/** The format of the tables of expressions. */
import type { JsonSchema } from "../../../src/schema/json_schema.ts";

/** Expressions of one library. Each is evaluated with each of the values as `self`. */
export interface ExpressionTable {
  readonly library: string;
  /** Values of {@linkcode PLAYGROUND}. */
  readonly values: readonly Readonly<Record<string, unknown>>[];
  /** Expressions of any type that `%s` can format. */
  readonly expressions: readonly string[];
  /** Expressions that a definition cannot contain: they do not compile, or are too expensive. */
  readonly rejected?: readonly string[];
}

const text = { type: "string", maxLength: 64 } as const;
const wholes = { type: "array", maxItems: 8, items: { type: "integer" } } as const;

/** An object with an optional field of each type. */
export const PLAYGROUND: JsonSchema = {
  type: "object",
  properties: {
    a: text,
    b: text,
    c: text,
    n: { type: "integer", default: 0 },
    m: { type: "integer", format: "int64" },
    x: { type: "number" },
    y: { type: "number", format: "double" },
    on: { type: "boolean" },
    at: { type: "string", format: "date-time" },
    day: { type: "string", format: "date" },
    span: { type: "string", format: "duration" },
    raw: { type: "string", format: "byte", maxLength: 64 },
    list: wholes,
    other: wholes,
    set: { ...wholes, "x-kubernetes-list-type": "set" },
    otherSet: { ...wholes, "x-kubernetes-list-type": "set" },
    numbers: { type: "array", maxItems: 8, items: { type: "number" } },
    words: { type: "array", maxItems: 8, items: { type: "string", maxLength: 16 } },
    lists: { type: "array", maxItems: 4, items: { type: "array", maxItems: 4, items: { type: "integer" } } },
    flags: { type: "array", maxItems: 8, items: { type: "boolean" } },
    spans: { type: "array", maxItems: 4, items: { type: "string", format: "duration" } },
    map: { type: "object", maxProperties: 8, additionalProperties: { type: "integer" } },
    ports: {
      type: "array",
      maxItems: 8,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: {
        type: "object",
        required: ["name"],
        properties: { name: { type: "string", maxLength: 16 }, port: { type: "integer" } },
      },
    },
    morePorts: {
      type: "array",
      maxItems: 8,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: {
        type: "object",
        required: ["name"],
        properties: { name: { type: "string", maxLength: 16 }, port: { type: "integer" } },
      },
    },
    either: { "x-kubernetes-int-or-string": true },
    inner: {
      type: "object",
      properties: { s: text, i: { type: "integer" }, deep: { type: "object", properties: { s: text } } },
    },
    none: { type: "string", nullable: true, maxLength: 64 },
    size: { type: "string", enum: ["small", "large"] },
  },
};
