/**
 * The CEL types that schemas declare, with the bounds of their sizes (`k8s.io/apiserver/pkg/cel`,
 * types.go and limits.go; `.../cel/common`, schemas.go).
 */
import { isObject } from "../../base/json.ts";
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  type SimpleType,
  STRING,
  TIMESTAMP,
} from "../../cel/type.ts";
import { celName, RESERVED_NAMES } from "../_cel_name.ts";
import type { JsonSchema } from "../json_schema.ts";

/** The declaration of a schema. */
export interface DeclaredType {
  readonly shape: SimpleType | "list" | "map" | "object";
  /** The minimum size of a value in JSON, in bytes. */
  readonly minBytes: number;
  /** The maximum number of characters, bytes, items or entries. */
  readonly maxElements: number;
  /** The items of a list or the values of a map. */
  readonly items?: DeclaredType;
  /** The fields of an object by their names in rules. */
  readonly fields?: ReadonlyMap<string, DeclaredType>;
}

/** The maximum size of a request in bytes. */
export const LARGEST_REQUEST = 3 * 1024 * 1024;

// The longest string fills a whole request, without its quotes.
const MAX_STRING = LARGEST_REQUEST - 2;
const MAX_DURATION = 32;
const DATE_LENGTH = 12;
const MAX_DATE_TIME = 32;
const MIN_DURATION = 3;
const MIN_DATE_TIME = 21;

const KEY: DeclaredType = { shape: STRING, minBytes: 2, maxElements: 0 };

/**
 * Types by schema, and by whether it describes a whole object. Entries cannot become stale, since
 * schemas are not modified.
 */
const typesBySchema = new WeakMap<JsonSchema, Map<boolean, DeclaredType | undefined>>();

/**
 * Returns the type that a schema declares.
 *
 * @param schema The schema.
 * @param isResource Whether it describes a whole object with `apiVersion`, `kind` and `metadata`.
 * @returns The type, or `undefined` if rules cannot access the value.
 */
export function declaredType(schema: JsonSchema, isResource: boolean): DeclaredType | undefined {
  let types = typesBySchema.get(schema);
  if (types === undefined) typesBySchema.set(schema, types = new Map());
  if (!types.has(isResource)) types.set(isResource, typeOf(schema, isResource));
  return types.get(isResource);
}

function typeOf(declared: JsonSchema, isResource: boolean): DeclaredType | undefined {
  const { maxLength } = declared;
  if (declared["x-kubernetes-int-or-string"]) {
    return { shape: DYN, minBytes: 1, maxElements: maxLength === undefined ? MAX_STRING : bytesFor(maxLength) };
  }
  const schema = isResource ? withTypeAndMetadata(declared) : declared;
  switch (schema.type) {
    case "array":
      return listType(schema);
    case "object":
      return isObject(schema.additionalProperties) ? mapType(schema, schema.additionalProperties) : objectType(schema);
    case "string":
      return textType(schema);
    case "boolean":
      return { shape: BOOL, minBytes: 4, maxElements: 0 };
    case "number":
      return { shape: DOUBLE, minBytes: 1, maxElements: 0 };
    case "integer":
      return { shape: INT, minBytes: 1, maxElements: 0 };
    default:
      return undefined;
  }
}

/** A character takes at most four bytes. */
function bytesFor(characters: number): number {
  return 4 * Math.max(0, characters);
}

function listType({ items, maxItems }: JsonSchema): DeclaredType | undefined {
  const type = items && declaredType(items, items["x-kubernetes-embedded-resource"] ?? false);
  if (type === undefined) return undefined;
  const most = maxItems ?? Math.trunc(MAX_STRING / (type.minBytes + 1));
  return { shape: "list", minBytes: 2, maxElements: Math.max(0, most), items: type };
}

function mapType({ maxProperties }: JsonSchema, values: JsonSchema): DeclaredType | undefined {
  const type = declaredType(values, values["x-kubernetes-embedded-resource"] ?? false);
  if (type === undefined) return undefined;
  // An entry takes at least its value and 6 bytes: a key of two bytes with its quotes, a colon, a
  // comma.
  const most = maxProperties ?? Math.trunc(MAX_STRING / (type.minBytes + 6));
  return { shape: "map", minBytes: 2, maxElements: Math.max(0, most), items: type };
}

function objectType({ properties = {}, required = [] }: JsonSchema): DeclaredType {
  const fields = new Map<string, DeclaredType>();
  let minBytes = 2;
  for (const [name, property] of Object.entries(properties)) {
    const type = declaredType(property, property["x-kubernetes-embedded-resource"] ?? false);
    if (type === undefined) continue;
    const field = celName(name);
    if (field !== undefined) fields.set(field, type);
    // A required property with a default may be omitted, so it does not count.
    if (required.includes(name) && (property.default ?? null) === null) {
      minBytes += byteLength(name) + type.minBytes + 4;
    }
  }
  return { shape: "object", minBytes, maxElements: 0, fields };
}

function textType(schema: JsonSchema): DeclaredType {
  const { format, maxLength, enum: values = [] } = schema;
  switch (format) {
    case "byte":
      return {
        shape: BYTES,
        minBytes: 2,
        maxElements: maxLength === undefined ? MAX_STRING : Math.max(0, maxLength),
      };
    case "duration":
      return { shape: DURATION, minBytes: MIN_DURATION, maxElements: MAX_DURATION };
    case "date":
      return { shape: TIMESTAMP, minBytes: DATE_LENGTH, maxElements: DATE_LENGTH };
    case "date-time":
      return { shape: TIMESTAMP, minBytes: MIN_DATE_TIME, maxElements: MAX_DATE_TIME };
  }
  if (maxLength !== undefined) return { shape: STRING, minBytes: 2, maxElements: bytesFor(maxLength) };
  if (values.length === 0) return { shape: STRING, minBytes: 2, maxElements: MAX_STRING };
  const lengths = values.map((value) => typeof value === "string" ? byteLength(value) : 0);
  return { shape: STRING, minBytes: 2, maxElements: Math.max(...lengths) };
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

const TEXT: JsonSchema = { type: "string" };
const METADATA: JsonSchema = { type: "object", properties: { name: TEXT, generateName: TEXT } };

/**
 * Results of {@linkcode withTypeAndMetadata}. Entries cannot become stale, since schemas are not
 * modified.
 */
const extendedSchemas = new WeakMap<JsonSchema, JsonSchema>();

/**
 * Returns the schema of a whole object as rules see it: with `apiVersion`, `kind` and the names in
 * `metadata`, even if it does not declare them.
 *
 * @param schema The schema of the object.
 * @returns The extended schema; the same result for the same argument.
 */
export function withTypeAndMetadata(schema: JsonSchema): JsonSchema {
  const cached = extendedSchemas.get(schema);
  if (cached !== undefined) return cached;
  const { apiVersion, kind, metadata } = schema.properties ?? {};
  const { name, generateName } = metadata?.properties ?? {};
  const isDeclared = [apiVersion, kind, name, generateName].every((each) => each?.type === "string") &&
    metadata?.type === "object";
  const result: JsonSchema = isDeclared ? schema : {
    ...schema,
    properties: { ...schema.properties, apiVersion: TEXT, kind: TEXT, metadata: METADATA },
  };
  extendedSchemas.set(schema, result);
  return result;
}

/**
 * Converts a declared type to a type of the CEL checker.
 *
 * @param type The type.
 * @param name The name of an object type; nested objects derive their names from it.
 */
export function celType(type: DeclaredType, name: string): CelType {
  const { shape, items, fields } = type;
  if (shape === "list") return listOf(items ? celType(items, `${name}.@idx`) : DYN);
  if (shape === "map") return mapOf(STRING, items ? celType(items, `${name}.@elem`) : DYN);
  if (shape !== "object") return shape;
  const types = new Map<string, CelType | undefined>();
  return {
    kind: "object",
    name,
    field(field) {
      if (!types.has(field)) {
        // A reserved word may be used without escaping.
        const found = fields?.get(field) ?? (RESERVED_NAMES.has(field) ? fields?.get(`__${field}__`) : undefined);
        types.set(field, found && celType(found, `${name}.${field}`));
      }
      return types.get(field);
    },
  };
}

/**
 * Returns the maximum number of elements of a part of a value.
 *
 * @param type The type of the value.
 * @param path The path of the part: field names, `@items`, `@keys`, `@values`.
 * @returns The number, or `undefined` if the type has no bound.
 */
export function maxElements(type: DeclaredType, path: readonly string[]): number | undefined {
  let current: DeclaredType | undefined = type;
  for (const step of path) {
    if (step === "@items" || step === "@values") current = current.items;
    else if (step === "@keys") current = current.shape === "map" ? KEY : undefined;
    else current = current.fields?.get(step);
    if (current === undefined) return undefined;
  }
  return current.maxElements;
}
