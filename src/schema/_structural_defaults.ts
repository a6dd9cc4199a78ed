/**
 * Validates defaults against their schemas
 * (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting`, validation.go).
 */
import { isObject } from "../base/json.ts";
import { isKnownValid } from "./_marks.ts";
import { embeddedErrors } from "./embedded_errors.ts";
import { type FieldError, invalid } from "./field_error.ts";
import type { JsonSchema } from "./json_schema.ts";
import { keywordErrors, NO_FIELD } from "./keyword_errors.ts";
import { pruneFields } from "./prune.ts";
import { brokenRules } from "./rules/evaluate.ts";

/** The position of a default. */
interface Position {
  readonly path: string;
  readonly toleratesUnknown: boolean;
  /** The schema of the enclosing resource. */
  readonly resource: JsonSchema;
  /** Returns a resource that contains only the given value, at this position. */
  readonly enclose: (value: unknown) => unknown;
  /** Whether it is inside `metadata`. Such a default is validated as part of its resource. */
  readonly isInMetadata: boolean;
}

const METADATA = new Set(["metadata", "kind", "apiVersion"]);
const TYPE = { kind: "Validation", apiVersion: "validation/v1" };

/**
 * Returns the invalid defaults of a structural schema.
 *
 * @param schema The schema of a whole object, in its normal form.
 * @param path The path of the schema.
 * @param toleratesUnknown Whether unknown fields are allowed.
 */
export function defaultErrors(schema: JsonSchema, path: string, toleratesUnknown: boolean): FieldError[] {
  const resource = { ...schema, "x-kubernetes-embedded-resource": true };
  return nodeErrors(resource, { path, toleratesUnknown, resource, enclose: withType, isInMetadata: false });
}

function withType(value: unknown): unknown {
  return { ...TYPE, ...value as object };
}

function nodeErrors(schema: JsonSchema, parent: Position): FieldError[] {
  if (isKnownValid(schema) && !parent.isInMetadata) return [];
  const isResource = schema["x-kubernetes-embedded-resource"] === true;
  const position = isResource ? { ...parent, resource: schema, enclose: withType, isInMetadata: false } : parent;
  const { path, enclose } = position;
  const errors: FieldError[] = [];
  if (schema.default !== undefined) errors.push(...ownErrors(schema, { ...position, path: `${path}.default` }));
  // The server does not validate defaults below additionalProperties.
  if (schema.items !== undefined) {
    const inItem = (value: unknown) => enclose([value]);
    errors.push(...nodeErrors(schema.items, { ...position, path: `${path}.items`, enclose: inItem }));
  }
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    errors.push(...nodeErrors(property, {
      ...position,
      path: `${path}.properties[${key}]`,
      enclose: (value) => enclose({ [key]: value }),
      isInMetadata: position.isInMetadata || (isResource && METADATA.has(key)),
    }));
  }
  return errors;
}

function ownErrors(schema: JsonSchema, position: Position): FieldError[] {
  const { path, resource, enclose, isInMetadata, toleratesUnknown } = position;
  const value = schema.default;
  const errors: FieldError[] = [];
  if (isInMetadata) {
    const detail = embeddedErrors(resource, enclose(value)).map(({ field, message }) => `${field}: ${message}`);
    const text = detail.length === 1 ? detail[0] : `[${detail.join(", ")}]`;
    if (detail.length > 0) return [invalid(path, value, `must result in valid metadata: ${text}`)];
  } else {
    if (!toleratesUnknown && hasUnknown(schema, value)) {
      errors.push(invalid(path, value, "must not have unknown fields"));
    }
    const embedded = embeddedErrors(schema, value, path);
    if (embedded.length > 0) return [...errors, ...embedded];
  }
  return [...errors, ...valueErrors(schema, value, path, schema === resource)];
}

function valueErrors(schema: JsonSchema, value: unknown, path: string, isResource: boolean): FieldError[] {
  const errors = keywordErrors(withDeclaredTypes(schema), value)
    .map((error) => ({ ...error, field: error.field === NO_FIELD ? path : `${path}.${error.field}` }));
  if (errors.length > 0) return errors;
  // The default must be valid both for a new object and for an unchanged one.
  const unchanged = brokenRules(schema, value, { old: value, path, isResource });
  return unchanged.length > 0 ? unchanged : brokenRules(schema, value, { path, isResource });
}

/**
 * Returns whether pruning would drop a field. The value is wrapped in an object, so that it is not
 * treated as a resource unless its schema declares one.
 */
function hasUnknown(schema: JsonSchema, value: unknown): boolean {
  return pruneFields({ type: "object", properties: { value: schema } }, { value }).dropped.length > 0;
}

/**
 * For defaults, only declared types are checked: the default of an int-or-string may be anything
 * that other keywords allow.
 */
function withDeclaredTypes(schema: JsonSchema): JsonSchema {
  const { "x-kubernetes-int-or-string": _, items, properties, additionalProperties, ...rest } = schema;
  return {
    ...rest,
    ...(items !== undefined && { items: withDeclaredTypes(items) }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, each]) => [key, withDeclaredTypes(each)])),
    }),
    ...(additionalProperties !== undefined && {
      additionalProperties: isObject(additionalProperties)
        ? withDeclaredTypes(additionalProperties)
        : additionalProperties,
    }),
  };
}
