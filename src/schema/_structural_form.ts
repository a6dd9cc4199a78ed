/**
 * Checks whether a schema is structural: it declares the type of each part outside of value
 * validations (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema`, validation.go and
 * complete.go).
 */
import { regularExpression } from "../cel/regular_expression.ts";
import { isKnownValid } from "./_marks.ts";
import { equal, isObject } from "../base/json.ts";
import { own } from "../base/own.ts";
import { type FieldError, forbidden, invalid, required } from "./field_error.ts";
import type { JsonSchema } from "./json_schema.ts";

/** The position of a schema; messages depend on it. */
type Level = "root" | "item" | "field";

const INT_OR_STRING: readonly JsonSchema[] = [{ type: "integer" }, { type: "string" }];

/**
 * Returns the reasons why a schema is not structural.
 *
 * @param schema The schema of a whole object, in its normal form, including empty values.
 * @param path The path of the schema.
 * @returns The errors, sorted by message.
 */
export function formErrors(schema: JsonSchema, path: string): FieldError[] {
  const errors = [...nodeFaults(schema, "root", path), ...counterpartErrors(schema, schema, path, path)];
  return errors.sort((a, b) => sortKey(a) < sortKey(b) ? -1 : 1);
}

function sortKey({ field, message }: FieldError): string {
  return `${field}: ${message}`;
}

function nodeFaults(schema: JsonSchema, level: Level, path: string): FieldError[] {
  if (isKnownValid(schema)) return [];
  const { items, properties = {}, additionalProperties } = schema;
  const errors: FieldError[] = [];
  if (schema.type === "array" && items === undefined) errors.push(required(`${path}.items`, "must be specified"));
  if (items !== undefined) errors.push(...nodeFaults(items, "item", `${path}.items`));
  for (const [key, property] of Object.entries(properties)) {
    errors.push(...nodeFaults(property, "field", `${path}.properties[${key}]`));
  }
  if (additionalProperties !== undefined && level === "root") {
    errors.push(forbidden(`${path}.additionalProperties`, "must not be used at the root"));
  }
  if (isObject(additionalProperties)) {
    errors.push(...nodeFaults(additionalProperties, "field", `${path}.additionalProperties`));
  }
  return [
    ...errors,
    ...intOrStringErrors(schema, path),
    ...validationErrors(
      schema,
      { isIntOrString: isIntOrString(schema), isFirstIntOrString: isFirstIntOrString(schema) },
      path,
    ),
    ...typeErrors(schema, level, path),
    ...resourceErrors(schema, level, path),
  ];
}

function intOrStringErrors(schema: JsonSchema, path: string): FieldError[] {
  if (!schema["x-kubernetes-int-or-string"]) return [];
  const detail = "must be false if x-kubernetes-int-or-string is true";
  return (["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] as const)
    .filter((keyword) => schema[keyword]).map((keyword) => invalid(`${path}.${keyword}`, true, detail));
}

function typeErrors(schema: JsonSchema, level: Level, path: string): FieldError[] {
  const { type, additionalProperties, properties } = schema;
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  const keepsUnknown = schema["x-kubernetes-preserve-unknown-fields"] === true;
  const at = `${path}.type`;
  const errors: FieldError[] = [];
  if (isEmbedded && type !== "object") {
    const detail = "must be object if x-kubernetes-embedded-resource is true";
    errors.push(type === undefined ? required(at, detail) : invalid(at, type, detail));
  } else if (type === undefined && !schema["x-kubernetes-int-or-string"] && !keepsUnknown) {
    errors.push(required(at, WITHOUT_TYPE[level]));
  }
  if (isEmbedded && additionalProperties !== undefined) {
    const detail = "must not be used if x-kubernetes-embedded-resource is set";
    errors.push(forbidden(`${path}.additionalProperties`, detail));
  }
  if (level === "root" && type !== undefined && type !== "object") {
    errors.push(invalid(at, type, "must be object at the root"));
  }
  if (isEmbedded && !keepsUnknown && isEmpty(properties)) {
    const detail =
      "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
    errors.push(required(`${path}.properties`, detail));
  }
  return errors;
}

const WITHOUT_TYPE: Readonly<Record<Level, string>> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};

/**
 * Schemas of fields that all Kubernetes objects have may restrict them, but not change their type.
 */
function resourceErrors(schema: JsonSchema, level: Level, path: string): FieldError[] {
  const { kind, apiVersion, metadata } = schema.properties ?? {};
  const isResource = level === "root" || schema["x-kubernetes-embedded-resource"] === true;
  const errors: FieldError[] = [];
  const at = (key: string) => `${path}.properties[${key}]`;
  if (isResource && kind !== undefined && kind.type !== "string") {
    errors.push(invalid(`${at("kind")}.type`, kind.type, "must be string"));
  }
  if (isResource && apiVersion !== undefined && apiVersion.type !== "string") {
    errors.push(invalid(`${at("apiVersion")}.type`, apiVersion.type, "must be string"));
  }
  if (metadata === undefined) return errors;
  if (isResource && metadata.type !== "object") {
    errors.push(invalid(`${at("metadata")}.type`, metadata.type, "must be object"));
  }
  if (level === "root" && !restrictsNamesOnly(metadata)) {
    const detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
    errors.push(forbidden(at("metadata"), detail));
  }
  return errors;
}

function restrictsNamesOnly({ type: _type, default: _default, properties = {}, ...rest }: JsonSchema): boolean {
  return Object.keys(withoutEmptyLists(rest)).length === 0 &&
    Object.keys(properties).every((key) => key === "name" || key === "generateName");
}

function isIntOrString({ anyOf }: JsonSchema): boolean {
  return anyOf?.length === 2 && equal(anyOf.map(withoutForbiddenProperties), INT_OR_STRING);
}

/** `additionalProperties: false` has no effect inside value validations. */
function withoutForbiddenProperties(check: JsonSchema): JsonSchema {
  const { additionalProperties, ...rest } = check;
  return withoutEmptyLists(additionalProperties === false ? rest : check);
}

/** Keywords for which an empty list counts as missing. */
const MISSING_WHEN_EMPTY = ["enum", "allOf", "anyOf", "oneOf"] as const;

function withoutEmptyLists(schema: JsonSchema): JsonSchema {
  const copy: { -readonly [Keyword in keyof JsonSchema]: JsonSchema[Keyword] } = { ...schema };
  for (const keyword of MISSING_WHEN_EMPTY) if (isEmpty(copy[keyword])) delete copy[keyword];
  return copy;
}

function isEmpty(value: object | undefined): boolean {
  return value === undefined || Object.keys(value).length === 0;
}

function isFirstIntOrString({ allOf }: JsonSchema): boolean {
  const [first] = allOf ?? [];
  return first !== undefined && isIntOrString(first);
}

/** The forms of an int-or-string that a schema has. They may have types in value validations. */
interface Exemptions {
  readonly isIntOrString: boolean;
  readonly isFirstIntOrString: boolean;
}

const NO_EXEMPTIONS: Exemptions = { isIntOrString: false, isFirstIntOrString: false };

function validationErrors(schema: JsonSchema, exemptions: Exemptions, path: string): FieldError[] {
  const { anyOf = [], allOf = [], oneOf = [], not, pattern } = schema;
  const errors: FieldError[] = [];
  if (!exemptions.isIntOrString) {
    anyOf.forEach((each, i) => errors.push(...nestedErrors(each, NO_EXEMPTIONS, `${path}.anyOf[${i}]`)));
  }
  allOf.forEach((each, i) => {
    const nested = { ...NO_EXEMPTIONS, isIntOrString: exemptions.isFirstIntOrString && i === 0 };
    errors.push(...nestedErrors(each, nested, `${path}.allOf[${i}]`));
  });
  oneOf.forEach((each, i) => errors.push(...nestedErrors(each, NO_EXEMPTIONS, `${path}.oneOf[${i}]`)));
  if (not !== undefined) errors.push(...nestedErrors(not, NO_EXEMPTIONS, `${path}.not`));
  const detail = pattern === undefined ? undefined : patternError(pattern);
  if (detail !== undefined) {
    errors.push(invalid(`${path}.pattern`, pattern, `must be a valid regular expression, but isn't: ${detail}`));
  }
  return errors;
}

function patternError(pattern: string): string | undefined {
  try {
    regularExpression(pattern);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * Keywords that must not occur inside of `allOf`, `anyOf`, `oneOf` and `not`, in the server's
 * order.
 */
const FORBIDDEN_INSIDE: readonly (readonly [keyword: keyof JsonSchema, detail: string])[] = [
  ["type", "must be empty"],
  ["additionalProperties", "must be undefined"],
  ["default", "must be undefined"],
  ["title", "must be empty"],
  ["description", "must be empty"],
  ["nullable", "must be false"],
  ["x-kubernetes-preserve-unknown-fields", "must be false"],
  ["x-kubernetes-embedded-resource", "must be false"],
  ["x-kubernetes-int-or-string", "must be false"],
  ["x-kubernetes-list-map-keys", "must be empty"],
  ["x-kubernetes-list-type", "must be undefined"],
  ["x-kubernetes-map-type", "must be undefined"],
  ["x-kubernetes-validations", "must be empty"],
];

function nestedErrors(schema: JsonSchema, exemptions: Exemptions, path: string): FieldError[] {
  const { items, properties = {} } = schema;
  const errors = validationErrors(schema, exemptions, path);
  if (items !== undefined) errors.push(...nestedErrors(items, NO_EXEMPTIONS, `${path}.items`));
  for (const [key, property] of Object.entries(properties)) {
    errors.push(...nestedErrors(property, NO_EXEMPTIONS, `${path}.properties[${key}]`));
  }
  for (const [keyword, detail] of FORBIDDEN_INSIDE) {
    // Go drops `additionalProperties: false` here.
    const value = schema[keyword];
    if (value === undefined || value === false || (Array.isArray(value) && value.length === 0)) continue;
    errors.push(forbidden(`${path}.${keyword}`, `${detail} to be structural`));
  }
  if (own(properties, "metadata") !== undefined) {
    errors.push(forbidden(`${path}.properties[metadata]`, "must not be specified in a nested context"));
  }
  return errors;
}

/**
 * Reports the parts of a value validation that are not also declared outside of it.
 *
 * @param check The value validation.
 * @param schema The declaring schema; `undefined` if it declares nothing at this position.
 */
function counterpartErrors(
  check: JsonSchema,
  schema: JsonSchema | undefined,
  path: string,
  checkPath: string,
): FieldError[] {
  const { not, allOf = [], anyOf = [], oneOf = [] } = check;
  const nested = (each: JsonSchema, at: string) => nestedCounterpartErrors(each, schema, path, `${checkPath}.${at}`);
  return [
    ...(not === undefined ? [] : nested(not, "not")),
    ...allOf.flatMap((each, i) => nested(each, `allOf[${i}]`)),
    ...anyOf.flatMap((each, i) => nested(each, `anyOf[${i}]`)),
    ...oneOf.flatMap((each, i) => nested(each, `oneOf[${i}]`)),
  ];
}

function nestedCounterpartErrors(
  check: JsonSchema,
  schema: JsonSchema | undefined,
  path: string,
  checkPath: string,
): FieldError[] {
  if (schema === undefined) return [required(path, `because it is defined in ${checkPath}`)];
  const errors = counterpartErrors(check, schema, path, checkPath);
  if (check.items !== undefined) {
    errors.push(...nestedCounterpartErrors(check.items, schema.items, `${path}.items`, `${checkPath}.items`));
  }
  for (const [key, property] of Object.entries(check.properties ?? {})) {
    const [at, checkAt] = [`${path}.properties[${key}]`, `${checkPath}.properties[${key}]`];
    errors.push(...nestedCounterpartErrors(property, own(schema.properties, key), at, checkAt));
  }
  return errors;
}
