/**
 * Schemas as Go structs (`JSONSchemaProps` of
 * `k8s.io/apiextensions-apiserver/pkg/apis/apiextensions`): the keywords that an API server retains
 * when it encodes a schema, and the form in which messages quote a schema.
 */
import { isObject } from "../base/json.ts";
import { own, setOwn } from "../base/own.ts";
import { readEmbedded } from "./embedded_metadata.ts";
import { isKnownValid } from "./_marks.ts";
import { goJson } from "./go_text.ts";
import type { JsonSchema } from "./json_schema.ts";

/**
 * The type of a keyword. Empty values of `string`, `boolean` and lists are omitted; Go pointers are
 * omitted only if they are nil.
 */
type FieldType =
  | "string"
  | "string pointer"
  | "boolean"
  | "boolean pointer"
  | "number"
  | "value"
  | "values"
  | "strings"
  | "schema"
  | "schemas"
  | "schemas by name"
  | "schema or list"
  | "schema or boolean"
  | "schema or strings by name"
  | "docs"
  | "rules";

/** Keywords in the order of the struct, with their Go names. */
const FIELDS: readonly (readonly [keyword: string, name: string, type: FieldType])[] = [
  ["id", "ID", "string"],
  ["$schema", "Schema", "string"],
  ["$ref", "Ref", "string pointer"],
  ["description", "Description", "string"],
  ["type", "Type", "string"],
  ["nullable", "Nullable", "boolean"],
  ["format", "Format", "string"],
  ["title", "Title", "string"],
  ["default", "Default", "value"],
  ["maximum", "Maximum", "number"],
  ["exclusiveMaximum", "ExclusiveMaximum", "boolean"],
  ["minimum", "Minimum", "number"],
  ["exclusiveMinimum", "ExclusiveMinimum", "boolean"],
  ["maxLength", "MaxLength", "number"],
  ["minLength", "MinLength", "number"],
  ["pattern", "Pattern", "string"],
  ["maxItems", "MaxItems", "number"],
  ["minItems", "MinItems", "number"],
  ["uniqueItems", "UniqueItems", "boolean"],
  ["multipleOf", "MultipleOf", "number"],
  ["enum", "Enum", "values"],
  ["maxProperties", "MaxProperties", "number"],
  ["minProperties", "MinProperties", "number"],
  ["required", "Required", "strings"],
  ["items", "Items", "schema or list"],
  ["allOf", "AllOf", "schemas"],
  ["oneOf", "OneOf", "schemas"],
  ["anyOf", "AnyOf", "schemas"],
  ["not", "Not", "schema"],
  ["properties", "Properties", "schemas by name"],
  ["additionalProperties", "AdditionalProperties", "schema or boolean"],
  ["patternProperties", "PatternProperties", "schemas by name"],
  ["dependencies", "Dependencies", "schema or strings by name"],
  ["additionalItems", "AdditionalItems", "schema or boolean"],
  ["definitions", "Definitions", "schemas by name"],
  ["externalDocs", "ExternalDocs", "docs"],
  ["example", "Example", "value"],
  ["x-kubernetes-preserve-unknown-fields", "XPreserveUnknownFields", "boolean pointer"],
  ["x-kubernetes-embedded-resource", "XEmbeddedResource", "boolean"],
  ["x-kubernetes-int-or-string", "XIntOrString", "boolean"],
  ["x-kubernetes-list-map-keys", "XListMapKeys", "strings"],
  ["x-kubernetes-list-type", "XListType", "string pointer"],
  ["x-kubernetes-map-type", "XMapType", "string pointer"],
  ["x-kubernetes-validations", "XValidations", "rules"],
];

const RULE_FIELDS = [
  ["rule", "Rule"],
  ["message", "Message"],
  ["messageExpression", "MessageExpression"],
  ["reason", "Reason"],
  ["fieldPath", "FieldPath"],
  ["optionalOldSelf", "OptionalOldSelf"],
] as const;

/** All keywords that a schema may have, in Go's order, with their Go names. */
export const SCHEMA_FIELDS: readonly (readonly [keyword: string, name: string])[] = FIELDS.map((
  [keyword, name],
) => [keyword, name]);

/** Options for {@linkcode normalSchema}. */
export interface NormalSchemaOptions {
  /**
   * Whether empty lists and maps are retained. The server retains them until it first serializes
   * the schema. @default {false}
   */
  readonly keepsEmpty?: boolean;
}

/**
 * Returns a schema as an API server returns it: without empty values and unknown keywords.
 *
 * @param schema The schema; it is not modified.
 * @param options Additional options.
 * @returns A copy, which shares the parts that are already in this form.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(
 *   normalSchema({ type: "object", properties: {}, nullable: false, description: "" }),
 *   { type: "object" },
 * );
 * ```
 */
export function normalSchema(schema: unknown, options: NormalSchemaOptions = {}): JsonSchema {
  const result: Record<string, unknown> = {};
  if (!isObject(schema)) return result;
  if (isKnownValid(schema)) return schema;
  for (const [keyword, , type] of FIELDS) {
    const value = normalValue(type, own(schema, keyword), options);
    if (value !== undefined && (options.keepsEmpty || !isEmpty(type, value))) result[keyword] = value;
  }
  // Resources in defaults are decoded like those in objects.
  if (result.default !== undefined) result.default = readEmbedded(result, result.default);
  return result;
}

const OMITTED_WHEN_EMPTY: ReadonlySet<FieldType> = new Set<FieldType>([
  "values",
  "strings",
  "schemas",
  "schemas by name",
  "schema or strings by name",
  "rules",
]);

function isEmpty(type: FieldType, value: unknown): boolean {
  return OMITTED_WHEN_EMPTY.has(type) && typeof value === "object" && Object.keys(value as object).length === 0;
}

function normalValue(type: FieldType, value: unknown, options: NormalSchemaOptions): unknown {
  if (value === undefined || value === null) return undefined;
  const normal = (each: unknown) => normalSchema(each, options);
  switch (type) {
    case "string":
      return value === "" ? undefined : value;
    case "boolean":
      return value === false ? undefined : value;
    case "schema":
      return normal(value);
    case "schemas":
      return Array.isArray(value) ? value.map(normal) : undefined;
    case "schema or list":
      return Array.isArray(value) ? value.map(normal) : normal(value);
    case "schema or boolean":
      return isObject(value) ? normal(value) : value;
    case "schemas by name":
      return mapByName(value, normal);
    case "schema or strings by name":
      return mapByName(value, (each) => isObject(each) ? normal(each) : each);
    case "rules":
      return Array.isArray(value) ? value.map(normalRule) : undefined;
    default:
      return value;
  }
}

function mapByName(value: unknown, normal: (each: unknown) => unknown): unknown {
  if (!isObject(value)) return undefined;
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(value)) setOwn(result, key, normal(value[key]));
  return result;
}

function normalRule(rule: unknown): unknown {
  if (!isObject(rule)) return rule;
  const entries = RULE_FIELDS.map(([key]) => [key, own(rule, key)] as const)
    .filter(([key, value]) =>
      value !== undefined && value !== null && (value !== "" || key === "rule" || key === "reason")
    );
  return Object.fromEntries(entries);
}

/**
 * Returns a schema as API server messages quote it: all fields of the struct, by their Go names.
 *
 * @param schema The schema, in its normal form.
 */
export function quotedSchema(schema: JsonSchema): string {
  return struct(FIELDS.map(([keyword, name, type]) => [
    name,
    quotedValue(type, (schema as Record<string, unknown>)[keyword]),
  ]));
}

/**
 * Returns a CEL rule as API server messages quote it.
 *
 * @param rule The rule, in its normal form.
 */
export function quotedRule(rule: unknown): string {
  const fields = isObject(rule) ? rule : {};
  return struct(RULE_FIELDS.map(([key, name]) => {
    const isPointer = key === "reason" || key === "optionalOldSelf";
    return [name, goJson(own(fields, key) ?? (isPointer ? null : ""))];
  }));
}

/** Formats a struct as Go's JSON, with its fields in the given order. */
export function struct(fields: readonly (readonly [name: string, text: string])[]): string {
  return `{${fields.map(([name, text]) => `${goJson(name)}:${text}`).join(",")}}`;
}

function quotedValue(type: FieldType, value: unknown): string {
  switch (type) {
    case "string":
      return goJson(value ?? "");
    case "boolean":
      return goJson(value ?? false);
    default:
      return value === undefined ? "null" : quotedPresent(type, value);
  }
}

function quotedPresent(type: FieldType, value: unknown): string {
  switch (type) {
    case "schema":
      return quotedSchema(value as JsonSchema);
    case "schemas":
      return list(value as JsonSchema[]);
    case "schema or list":
      return Array.isArray(value)
        ? struct([["Schema", "null"], ["JSONSchemas", list(value)]])
        : struct([["Schema", quotedSchema(value as JsonSchema)], ["JSONSchemas", "null"]]);
    case "schema or boolean":
      return isObject(value)
        ? struct([["Allows", "true"], ["Schema", quotedSchema(value)]])
        : struct([["Allows", goJson(value)], ["Schema", "null"]]);
    case "schemas by name":
      return struct(entriesInOrder(value).map(([key, each]) => [key, quotedSchema(each as JsonSchema)]));
    case "schema or strings by name":
      return struct(
        entriesInOrder(value).map(([key, each]) => [
          key,
          Array.isArray(each)
            ? struct([["Schema", "null"], ["Property", goJson(each)]])
            : struct([["Schema", quotedSchema(each as JsonSchema)], ["Property", "null"]]),
        ]),
      );
    case "docs": {
      const { description = "", url = "" } = value as { description?: string; url?: string };
      return struct([["Description", goJson(description)], ["URL", goJson(url)]]);
    }
    case "rules":
      return `[${(value as unknown[]).map(quotedRule).join(",")}]`;
    default:
      return goJson(value);
  }
}

function list(schemas: readonly JsonSchema[]): string {
  return `[${schemas.map(quotedSchema).join(",")}]`;
}

function entriesInOrder(value: unknown): [string, unknown][] {
  return Object.entries(value as object).sort(([a], [b]) => a < b ? -1 : 1);
}
