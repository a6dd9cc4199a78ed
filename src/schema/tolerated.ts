/**
 * Errors that an update of a CustomResourceDefinition may retain, because older servers accepted
 * them.
 */
import { isObject } from "../base/json.ts";
import { mapListErrors } from "./_structural_lists.ts";
import type { JsonSchema } from "./json_schema.ts";
import { prune } from "./prune.ts";

/** The ignored errors. */
export interface Tolerated {
  /** Defaults with undeclared fields. */
  readonly unprunedDefaults?: boolean;
  /** Sets of non-atomic items. */
  readonly setTypes?: boolean;
  /** Keys of lists that may be missing or null, and items that may be null. */
  readonly mapKeys?: boolean;
  /** Types that do not exist in JSON Schema. */
  readonly types?: boolean;
}

/**
 * Returns the ignored errors that occur in schemas.
 *
 * @param schemas The schemas of all versions of the stored definition.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const schema = {
 *   type: "array",
 *   "x-kubernetes-list-type": "set",
 *   items: { type: "object" },
 * } as const;
 * assert.equal(toleratedIn([schema]).setTypes, true);
 * ```
 */
export function toleratedIn(schemas: readonly JsonSchema[]): Tolerated {
  const some = (has: (schema: JsonSchema) => boolean) => schemas.some((schema) => anySchemaIn(schema, has));
  return {
    unprunedDefaults: some(hasUnprunedDefault),
    setTypes: some(isSetOfNonAtomicItems),
    mapKeys: some((schema) => mapListErrors(schema, "").length > 0),
    types: some(({ type }) => type !== undefined && !TYPES.has(type)),
  };
}

const TYPES = new Set<string>(["string", "number", "integer", "boolean", "array", "object"]);

/** Returns whether a condition is true for a schema or a nested schema. */
function anySchemaIn(schema: JsonSchema, has: (schema: JsonSchema) => boolean): boolean {
  if (has(schema)) return true;
  const { items, allOf = [], anyOf = [], oneOf = [], not, properties = {}, additionalProperties } = schema;
  const parts = [items, ...allOf, ...anyOf, ...oneOf, not, ...Object.values(properties), additionalProperties];
  return parts.some((part) => isObject(part) && anySchemaIn(part as JsonSchema, has));
}

function hasUnprunedDefault(schema: JsonSchema): boolean {
  if (schema.default === undefined) return false;
  return prune({ type: "object", properties: { value: schema } }, { value: schema.default }).dropped.length > 0;
}

function isSetOfNonAtomicItems({ items, ...schema }: JsonSchema): boolean {
  if (schema["x-kubernetes-list-type"] !== "set" || items === undefined) return false;
  if (items.type === "array") return (items["x-kubernetes-list-type"] ?? "atomic") !== "atomic";
  return items.type === "object" && items["x-kubernetes-map-type"] !== "atomic";
}
