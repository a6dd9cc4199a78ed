/**
 * Sets the defaults of a structural schema
 * (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting`).
 */
import { isObject } from "../base/json.ts";
import { own, setOwn } from "../base/own.ts";
import type { JsonSchema } from "./json_schema.ts";

/**
 * Sets missing fields to their defaults, and drops null fields that are not nullable.
 *
 * @param schema The schema.
 * @param value The value; it is not modified.
 * @returns The value with defaults; unchanged parts are shared with `value`.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const schema = { properties: { replicas: { type: "integer", default: 3 } } } as const;
 * assert.deepEqual(applyDefaults(schema, {}), { replicas: 3 });
 * ```
 */
export function applyDefaults(schema: JsonSchema, value: unknown): unknown {
  return withDefaults(schema, value, false);
}

/**
 * Sets missing fields to their defaults. Null fields that are neither nullable nor have a default
 * are retained, so that validation reports them.
 *
 * @param schema The schema.
 * @param value The value; it is not modified.
 */
export function applyDefaultsKeepingNull(schema: JsonSchema, value: unknown): unknown {
  return withDefaults(schema, value, true);
}

function withDefaults(schema: JsonSchema, value: unknown, keepsNull: boolean): unknown {
  // Without defaults and without dropping nulls, the value stays as it is.
  if (keepsNull && !hasDefaults(schema)) return value;
  if (Array.isArray(value)) {
    return schema.items === undefined ? value : listWithDefaults(schema.items, value, keepsNull);
  }
  return isObject(value) ? objectWithDefaults(schema, value, keepsNull) : value;
}

function listWithDefaults(items: JsonSchema, list: readonly unknown[], keepsNull: boolean): readonly unknown[] {
  const result = list.map((item) => withDefaults(items, orDefault(items, item) ?? item, keepsNull));
  return result.every((item, i) => item === list[i]) ? list : result;
}

function objectWithDefaults(
  schema: JsonSchema,
  object: Record<string, unknown>,
  keepsNull: boolean,
): Record<string, unknown> {
  const { properties = {}, additionalProperties } = schema;
  let result: Record<string, unknown> | undefined;
  function put(key: string, property: JsonSchema): void {
    const value = own(object, key);
    const next = withDefaults(property, orDefault(property, value), keepsNull);
    if (next === value || (next === undefined && keepsNull)) return;
    result ??= { ...object };
    if (next === undefined) delete result[key];
    else setOwn(result, key, next);
  }
  for (const [key, property] of Object.entries(properties)) put(key, property);
  if (isObject(additionalProperties)) {
    for (const key of Object.keys(object)) if (own(properties, key) === undefined) put(key, additionalProperties);
  }
  return result ?? object;
}

/**
 * Results of {@linkcode hasDefaults} by schema. Entries cannot become stale, since schemas are not
 * modified.
 */
const resultsOfHasDefaults = new WeakMap<JsonSchema, boolean>();

/** Returns whether a schema contains a default. A recursive schema counts as containing one. */
function hasDefaults(schema: JsonSchema): boolean {
  const found = resultsOfHasDefaults.get(schema);
  if (found !== undefined) return found;
  resultsOfHasDefaults.set(schema, true);
  const { properties = {}, items, additionalProperties } = schema;
  const parts = [...Object.values(properties), ...items === undefined ? [] : [items]];
  if (isObject(additionalProperties)) parts.push(additionalProperties);
  const result = parts.some((part) => part.default !== undefined || hasDefaults(part));
  resultsOfHasDefaults.set(schema, result);
  return result;
}

/**
 * Drops null fields that are neither nullable nor have a default. This happens before defaults are
 * set.
 *
 * @param schema The schema.
 * @param value The value; it is not modified.
 */
export function dropNulls(schema: JsonSchema | undefined, value: unknown): unknown {
  if (Array.isArray(value)) {
    const result = value.map((item) => dropNulls(schema?.items, item));
    return result.every((item, i) => item === value[i]) ? value : result;
  }
  if (!isObject(value) || schema === undefined) return value;
  const { properties, additionalProperties } = schema;
  let result = value;
  for (const [key, part] of Object.entries(value)) {
    const property = own(properties, key) ?? (isObject(additionalProperties) ? additionalProperties : undefined);
    if (property === undefined) continue;
    const isDropped = part === null && !property.nullable && (property.default ?? null) === null;
    const next = isDropped ? undefined : dropNulls(property, part);
    if (next === part) continue;
    if (result === value) result = { ...value };
    if (isDropped) delete result[key];
    else setOwn(result, key, next);
  }
  return result;
}

/**
 * Returns the replacement for a value that is missing, or null without being nullable. A null
 * default does not count.
 */
function orDefault(schema: JsonSchema, value: unknown): unknown {
  return value === undefined || (value === null && !schema.nullable) ? schema.default ?? undefined : value;
}
