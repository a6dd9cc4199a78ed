/**
 * Validates the schema of a CustomResourceDefinition, with the field paths and words of an API
 * server (`k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation`).
 */
import { isObject } from "../base/json.ts";
import { own } from "../base/own.ts";
import { isKnownValid } from "./_marks.ts";
import { defaultErrors } from "./_structural_defaults.ts";
import { formErrors } from "./_structural_form.ts";
import { listTypeErrors, mapListErrors } from "./_structural_lists.ts";
import { type FieldError, forbidden, invalid, notSupported, required, type SchemaError } from "./field_error.ts";
import { normalSchema, quotedSchema, SCHEMA_FIELDS } from "./go_schema.ts";
import type { JsonSchema } from "./json_schema.ts";
import { ruleErrors } from "./rules/errors.ts";
import type { Tolerated } from "./tolerated.ts";

/** Options for {@linkcode schemaErrors}. */
export interface SchemaErrorsOptions {
  /**
   * Whether the kind has a status subresource. It restricts the keywords at the root. @default
   * {false}
   */
  readonly hasStatus?: boolean;
  /** Whether the schema is unchanged. Its rules may then exceed the cost limit. @default {false} */
  readonly isUnchanged?: boolean;
  /** Errors that are ignored because the stored definition already has them. @default {{}} */
  readonly tolerated?: Tolerated;
}

/**
 * Validates the schema of a kind.
 *
 * @param schema The schema of a whole object: `openAPIV3Schema` of a version.
 * @param path The path of the schema, such as `spec.versions[0].schema.openAPIV3Schema`.
 * @param options Additional options.
 * @returns The errors; empty if an API server accepts the schema.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const schema = { type: "object", properties: { spec: { type: "array" } } } as const;
 * assert.deepEqual(schemaErrors(schema, "schema"), [{
 *   reason: "FieldValueRequired",
 *   field: "schema.properties[spec].items",
 *   message: "Required value: must be specified",
 * }]);
 * ```
 */
export function schemaErrors(schema: unknown, path: string, options: SchemaErrorsOptions = {}): SchemaError[] {
  const { hasStatus = false, isUnchanged = false, tolerated = {} } = options;
  const root = normalSchema(schema);
  const original = normalSchema(schema, { keepsEmpty: true });
  const errors = rootErrors(original, path, hasStatus);
  const notConvertible = conversionError(root);
  const form = notConvertible === undefined ? structuralErrors(root, original, path, tolerated) : [];
  const keywords = keywordErrors(original, {
    path,
    isRoot: true,
    isInMetadata: false,
    noDefaults: undefined,
    tolerated,
  });
  // Rules cannot be compiled if the schema is not structural.
  const skipsCompilation = notConvertible !== undefined || form.length > 0;
  errors.push(...form, ...keywords, ...ruleErrors(root, path, { others: keywords, skipsCompilation, isUnchanged }));
  // Reported only if there is no other error: the validation of keywords already reports each of
  // these keywords, except for `$schema`.
  if (errors.length === 0 && notConvertible !== undefined) errors.push(invalid(path, "", notConvertible));
  return errors;
}

/** Defaults are validated only if the schema itself is valid. */
function structuralErrors(
  root: JsonSchema,
  original: JsonSchema,
  path: string,
  { unprunedDefaults = false }: Tolerated,
): FieldError[] {
  const form = formErrors(original, path);
  return form.length > 0 ? form : defaultErrors(root, path, unprunedDefaults);
}

const ROOT_FIELDS =
  "Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems " +
  "UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations";
const ALLOWED_AT_ROOT = new Set(ROOT_FIELDS.split(" "));

function rootErrors(schema: JsonSchema, path: string, hasStatus: boolean): SchemaError[] {
  const errors: SchemaError[] = [];
  const error = hasStatus ? rootKeywordError(schema, path) : undefined;
  if (error !== undefined) errors.push(error);
  if (schema.nullable) errors.push(forbidden(`${path}.nullable`, "nullable cannot be true at the root"));
  return errors;
}

/** Restricts the root, because the server also uses the status schema alone, without it. */
function rootKeywordError(schema: JsonSchema, path: string): SchemaError | undefined {
  for (const [keyword, name] of SCHEMA_FIELDS) {
    if ((schema as Record<string, unknown>)[keyword] === undefined) continue;
    if (keyword === "type" && schema.type !== "object") {
      const detail =
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
      return invalid(`${path}.type`, schema.type, detail);
    }
    if (ALLOWED_AT_ROOT.has(name)) continue;
    const detail =
      `only [${ROOT_FIELDS}] fields are allowed at the root of the schema if the status subresource is enabled`;
    return { ...invalid(path, "", ""), message: `Invalid value: ${quotedSchema(schema)}: ${detail}`, detail };
  }
  return undefined;
}

/** Keywords of JSON Schema that structural schemas do not allow, with the server's names. */
const NON_STRUCTURAL: readonly (readonly [keyword: string, name: string])[] = [
  ["id", "id"],
  ["$schema", "schema"],
  ["$ref", "$ref"],
  ["patternProperties", "patternProperties"],
  ["dependencies", "dependencies"],
  ["additionalItems", "additionalItems"],
  ["definitions", "definitions"],
];

/** Returns the reason why a schema cannot be converted to a structural one, or `undefined`. */
function conversionError(schema: JsonSchema): string | undefined {
  if (isKnownValid(schema)) return undefined;
  const keywords = schema as Record<string, unknown>;
  const found = NON_STRUCTURAL.find(([keyword]) => keywords[keyword] !== undefined && keywords[keyword] !== "");
  if (found !== undefined) return `OpenAPIV3Schema '${found[1]}' is not supported`;
  if (keywords["x-kubernetes-preserve-unknown-fields"] === false) {
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  }
  if (Array.isArray(schema.items)) return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  for (const part of partsOf(schema)) {
    const detail = conversionError(part);
    if (detail !== undefined) return detail;
  }
  return undefined;
}

function partsOf(
  { not, allOf = [], anyOf = [], oneOf = [], items, properties, additionalProperties }: JsonSchema,
): JsonSchema[] {
  return [
    ...(not === undefined ? [] : [not]),
    ...allOf,
    ...anyOf,
    ...oneOf,
    ...(items === undefined ? [] : [items]),
    ...Object.values(properties ?? {}),
    ...(isObject(additionalProperties) ? [additionalProperties] : []),
  ];
}

/** The position of a schema, and the restrictions there. */
interface Position {
  readonly path: string;
  readonly isRoot: boolean;
  /** Whether it is inside the fields of every object: `apiVersion`, `kind` and `metadata`. */
  readonly isInMetadata: boolean;
  /** The reason why defaults are not allowed here; `undefined` if they are. */
  readonly noDefaults: string | undefined;
  readonly tolerated: Tolerated;
}

const METADATA = new Set(["metadata", "kind", "apiVersion"]);

/** Validates each keyword. This does not require a structural schema. */
function keywordErrors(schema: JsonSchema, position: Position): FieldError[] {
  // Metadata has additional restrictions.
  if (isKnownValid(schema) && !position.isInMetadata) return [];
  const { path, tolerated } = position;
  const errors = [...simpleKeywordErrors(schema, position), ...nestedErrors(schema, position)];
  if ((schema["x-kubernetes-preserve-unknown-fields"] as unknown) === false) {
    errors.push(invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, "must be true or undefined"));
  }
  errors.push(...mapTypeErrors(schema, path), ...listTypeErrors(schema, path, tolerated.setTypes ?? false));
  if (!tolerated.mapKeys) errors.push(...mapListErrors(schema, path));
  return errors;
}

const TYPES = ["array", "boolean", "integer", "number", "object", "string"];

function simpleKeywordErrors(
  schema: JsonSchema,
  { path, isInMetadata, noDefaults, tolerated }: Position,
): FieldError[] {
  const keywords = schema as Record<string, unknown>;
  const type = keywords["type"];
  const errors: FieldError[] = [];
  if (type !== undefined && !TYPES.includes(String(type)) && !tolerated.types) {
    errors.push(notSupported(`${path}.type`, type, TYPES));
  }
  if (schema.default !== undefined && noDefaults !== undefined) {
    errors.push(forbidden(`${path}.default`, `must not be set ${noDefaults}`));
  }
  for (const keyword of ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"]) {
    const value = keywords[keyword];
    const isAbsent = keyword === "patternProperties" || keyword === "definitions"
      ? isEmpty(value)
      : value === undefined;
    if (!isAbsent) errors.push(forbidden(`${path}.${keyword}`, `${keyword} is not supported`));
  }
  if (type === "null") {
    errors.push(forbidden(`${path}.type`, "type cannot be set to null, use nullable as an alternative"));
  }
  if (Array.isArray(schema.items)) {
    errors.push(forbidden(`${path}.items`, "items must be a schema object and not an array"));
  }
  if (isInMetadata && schema["x-kubernetes-embedded-resource"]) {
    errors.push(forbidden(`${path}.x-kubernetes-embedded-resource`, "must not be used inside of resource meta"));
  }
  if (schema.uniqueItems) {
    const detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
    errors.push(forbidden(`${path}.uniqueItems`, detail));
  }
  return errors;
}

function isEmpty(value: unknown): boolean {
  return value === undefined || (isObject(value) && Object.keys(value).length === 0);
}

/** Validates nested schemas. */
function nestedErrors(schema: JsonSchema, position: Position): FieldError[] {
  const { path } = position;
  const { properties = {}, additionalProperties, not, allOf = [], oneOf = [], anyOf = [], items } = schema;
  const inner = (part: JsonSchema, at: string, changes: Partial<Position> = {}) =>
    keywordErrors(part, { ...position, isRoot: false, path: `${path}.${at}`, ...changes });
  const errors: FieldError[] = [];
  if (additionalProperties !== undefined && additionalProperties !== true && Object.keys(properties).length > 0) {
    const detail = "additionalProperties and properties are mutual exclusive";
    errors.push(forbidden(`${path}.additionalProperties`, detail));
  }
  if (isObject(additionalProperties)) {
    // The server cannot prune such a default.
    const changes = position.isInMetadata
      ? { noDefaults: "inside additionalProperties applying to object metadata" }
      : {};
    errors.push(...inner(additionalProperties, "additionalProperties", changes));
  }
  for (const [key, property] of Object.entries(properties)) {
    const isMetadata = METADATA.has(key) && (position.isRoot || schema["x-kubernetes-embedded-resource"] === true);
    const changes = {
      ...(isMetadata && { isInMetadata: true }),
      ...(isMetadata && position.isRoot && { noDefaults: `in top-level ${key}` }),
    };
    errors.push(...inner(property, `properties[${key}]`, changes));
  }
  if (not !== undefined) errors.push(...inner(not, "not"));
  allOf.forEach((each, i) => errors.push(...inner(each, `allOf[${i}]`)));
  oneOf.forEach((each, i) => errors.push(...inner(each, `oneOf[${i}]`)));
  anyOf.forEach((each, i) => errors.push(...inner(each, `anyOf[${i}]`)));
  for (const [key, each] of Object.entries(own(schema as Record<string, unknown>, "definitions") ?? {})) {
    errors.push(...inner(each as JsonSchema, `definitions[${key}]`));
  }
  if (Array.isArray(items)) items.forEach((each, i) => errors.push(...inner(each, `items[${i}]`)));
  else if (items !== undefined) errors.push(...inner(items, "items"));
  for (const [key, each] of Object.entries(own(schema as Record<string, unknown>, "dependencies") ?? {})) {
    if (isObject(each)) errors.push(...inner(each, `dependencies[${key}]`));
  }
  return errors;
}

function mapTypeErrors(schema: JsonSchema, path: string): FieldError[] {
  const mapType = schema["x-kubernetes-map-type"];
  if (mapType === undefined) return [];
  const errors: FieldError[] = [];
  if (schema.type !== "object") {
    const detail = "must be object if x-kubernetes-map-type is specified";
    errors.push(
      schema.type === undefined ? required(`${path}.type`, detail) : invalid(`${path}.type`, schema.type, detail),
    );
  }
  if (mapType !== "atomic" && mapType !== "granular") {
    errors.push(notSupported(`${path}.x-kubernetes-map-type`, mapType, ["atomic", "granular"]));
  }
  return errors;
}
