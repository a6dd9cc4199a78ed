/** Small schemas, and schemas with one change that may make them invalid. */
import { isObject } from "../../src/base/json.ts";
import { setOwn } from "../../src/base/own.ts";
import type { JsonSchema } from "../../src/schema/json_schema.ts";
import { objectNode } from "./_containers.ts";
import type { Random } from "../fixtures/random.ts";
import { SCALARS } from "./_scalars.ts";
import { wrapped } from "./_schemas.ts";
import { STRUCTURES } from "./_structures.ts";

/** Returns a schema of a whole object with random properties in its spec. */
export function smallSchema(random: Random): JsonSchema {
  const makers = [...SCALARS, ...STRUCTURES, ...STRUCTURES];
  const properties = random.times(2, (i) => {
    return [`p${i}`, { node: wrapped(random, random.pick(makers)(random), random.integer(0, 1)) }] as const;
  });
  const spec = objectNode(Object.fromEntries(properties)).schema;
  return { type: "object", properties: { spec } };
}

const TEXT = { type: "string" };
const RULE = { rule: "self == self" };

/** Valid and invalid values of keywords, but always of the keyword's type. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  type: ["string", "integer", "number", "boolean", "array", "object", "null", "text", ""],
  format: ["int32", "int64", "date-time", "hostname", "nothing", "byte", "float", ""],
  title: ["A title"],
  description: ["A description"],
  nullable: [true, false],
  default: [1, "a", null, {}, [], true, { a: 1 }, [1], 0.5, { apiVersion: "v1", kind: "Pod" }],
  example: [1, null],
  enum: [[], [1, 1], ["a", "a"], [1, "a"], [null], [{}], ["a", "b"]],
  minimum: [0, 5, -1.5],
  maximum: [0, 3, 1e300],
  exclusiveMinimum: [true],
  exclusiveMaximum: [true, false],
  multipleOf: [0, -1, 3, 0.1],
  minLength: [-1, 0, 5],
  maxLength: [-1, 0, 3],
  pattern: ["^a$", "(", "a(?=b)", "\\1", "", "(?P<n>a)", "[z-a]"],
  minItems: [-1, 2],
  maxItems: [-1, 1],
  uniqueItems: [true, false],
  minProperties: [-1, 2],
  maxProperties: [-1, 1],
  required: [["missing"], [], ["p0", "p0"], [""]],
  items: [TEXT, {}, { type: "object" }, { "x-kubernetes-int-or-string": true }],
  properties: [{ a: TEXT }, {}, { "": TEXT }, { a: {} }, { metadata: { type: "object", properties: { name: TEXT } } }],
  additionalProperties: [true, false, TEXT, {}, { type: "object", properties: {} }],
  allOf: [[{}], [{ minimum: 1 }], [TEXT], [{ properties: { a: { minLength: 1 } } }], [{ description: "a" }], []],
  anyOf: [[{ required: ["a"] }], [{ type: "integer" }, TEXT], [{ nullable: true }], [{ default: 1 }], [{ items: {} }]],
  oneOf: [[{ minLength: 1 }, { maxLength: 0 }], [{ title: "t" }], [{ "x-kubernetes-int-or-string": true }]],
  not: [{ required: ["a"] }, { type: "object" }, { properties: { zz: { minLength: 1 } } }, {}, { format: "ipv4" }],
  "x-kubernetes-preserve-unknown-fields": [true],
  "x-kubernetes-embedded-resource": [true, false],
  "x-kubernetes-int-or-string": [true, false],
  "x-kubernetes-list-type": ["atomic", "set", "map", "other", ""],
  "x-kubernetes-list-map-keys": [["name"], [], ["name", "name"], ["missing"]],
  "x-kubernetes-map-type": ["atomic", "granular", "other"],
  "x-kubernetes-validations": [[RULE], [RULE, RULE], [{ rule: "" }], []],
  $ref: ["#/definitions/a"],
  $schema: ["http://json-schema.org/draft-04/schema#"],
  id: ["an-id"],
  definitions: [{ a: TEXT }],
  dependencies: [{ a: ["b"] }],
  patternProperties: [{ "^a": TEXT }],
  additionalItems: [true, TEXT],
  externalDocs: [{ url: "https://example.com" }],
};

/**
 * Returns the schema with one keyword of one node set or removed, and a description of the change.
 */
export function changedSchema(random: Random, schema: JsonSchema): { schema: JsonSchema; change: string } {
  const nodes = [...nodesOf(schema, "")];
  const { path, node } = random.pick(nodes);
  const keywords = Object.keys(node);
  if (random.chance(0.2) && keywords.length > 0) {
    const keyword = random.pick(keywords);
    const { [keyword]: _, ...rest } = node;
    return { schema: replaced(schema, node, rest), change: `${path} without ${keyword}` };
  }
  const keyword = random.pick(Object.keys(VALUES));
  const value = random.pick(VALUES[keyword]!);
  const copy = { ...node };
  setOwn(copy, keyword, value);
  return { schema: replaced(schema, node, copy), change: `${path} with ${keyword}: ${JSON.stringify(value)}` };
}

interface Found {
  readonly path: string;
  readonly node: Record<string, unknown>;
}

/** Returns a schema and all nested schemas. */
function* nodesOf(schema: unknown, path: string): Generator<Found> {
  if (!isObject(schema)) return;
  yield { path, node: schema };
  for (const keyword of ["items", "additionalProperties", "not"]) yield* nodesOf(schema[keyword], `${path}.${keyword}`);
  for (const [name, property] of Object.entries(schema.properties ?? {})) yield* nodesOf(property, `${path}.${name}`);
  for (const keyword of ["allOf", "anyOf", "oneOf"]) {
    for (const [i, each] of Object.entries(schema[keyword] ?? [])) yield* nodesOf(each, `${path}.${keyword}[${i}]`);
  }
}

/** Replaces one node of a schema, by identity, wherever it occurs. */
function replaced(schema: unknown, node: object, by: object): JsonSchema {
  if (schema === node) return by;
  if (Array.isArray(schema)) return schema.map((each) => replaced(each, node, by)) as JsonSchema;
  if (!isObject(schema)) return schema as JsonSchema;
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) setOwn(copy, key, replaced(value, node, by));
  return copy as JsonSchema;
}
