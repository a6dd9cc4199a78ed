/**
 * Drops fields that a structural schema does not declare
 * (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning`).
 */
import { isObject } from "../base/json.ts";
import { own, setOwn } from "../base/own.ts";
import { readEmbedded } from "./embedded_metadata.ts";
import type { JsonSchema } from "./json_schema.ts";

/** The result of {@linkcode prune}. */
export interface Pruned {
  /** The value without undeclared fields; the same value if no field was dropped. */
  readonly value: unknown;
  /** The paths of the dropped fields, such as `spec.size` or `spec.ports[0].nam`. */
  readonly dropped: readonly string[];
}

/**
 * Drops undeclared fields. The `metadata` of embedded objects is decoded like that of whole
 * objects, so empty values in it are dropped, too.
 *
 * @param schema The schema of a whole or embedded object: `apiVersion`, `kind` and `metadata` are
 * retained at its root.
 * @param value The object; it is not modified.
 * @returns The pruned object and the dropped fields.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const schema = {
 *   type: "object",
 *   properties: { spec: { type: "object", properties: { host: { type: "string" } } } },
 * } as const;
 * const { value, dropped } = prune(schema, { kind: "Website", spec: { host: "a", hots: "b" } });
 * assert.deepEqual(value, { kind: "Website", spec: { host: "a" } });
 * assert.deepEqual(dropped, ["spec.hots"]);
 * ```
 */
export function prune(schema: JsonSchema, value: unknown): Pruned {
  const { value: known, dropped } = pruneFields(schema, value);
  const unknown: string[] = [];
  return { value: readEmbedded(schema, known, { unknown }), dropped: [...dropped, ...unknown] };
}

/** Like {@linkcode prune}, but leaves the metadata of embedded objects as it is. */
export function pruneFields(schema: JsonSchema, value: unknown): Pruned {
  const dropped: string[] = [];
  return { value: pruneValue(schema, value, "", true, dropped), dropped };
}

const RESOURCE_KEYS = new Set(["apiVersion", "kind", "metadata"]);

/** Returns a value without undeclared fields. Without a schema, all fields are undeclared. */
function pruneValue(
  schema: JsonSchema | undefined,
  value: unknown,
  path: string,
  isResource: boolean,
  dropped: string[],
): unknown {
  const keepsUnknown = schema?.["x-kubernetes-preserve-unknown-fields"] === true;
  if (Array.isArray(value)) {
    if (keepsUnknown && schema?.items === undefined) return value;
    // An object that preserves unknown fields preserves them in items, too.
    const items = keepsUnknown
      ? { ...schema.items, "x-kubernetes-preserve-unknown-fields": true as const }
      : schema?.items;
    const result = value.map((item, i) => pruneValue(items, item, `${path}[${i}]`, isEmbedded(items), dropped));
    return result.every((item, i) => item === value[i]) ? value : result;
  }
  return isObject(value) ? pruneObject(schema, value, path, isResource, dropped) : value;
}

function isEmbedded(schema: JsonSchema | undefined): boolean {
  return schema?.["x-kubernetes-embedded-resource"] ?? false;
}

function pruneObject(
  schema: JsonSchema | undefined,
  object: Record<string, unknown>,
  path: string,
  isResource: boolean,
  dropped: string[],
): Record<string, unknown> {
  const { properties, additionalProperties } = schema ?? {};
  const keepsUnknown = schema?.["x-kubernetes-preserve-unknown-fields"] === true;
  const result: Record<string, unknown> = {};
  let isChanged = false;
  for (const [key, value] of Object.entries(object)) {
    const here = path === "" ? key : `${path}.${key}`;
    const property: JsonSchema | undefined = own(properties, key) ??
      (isObject(additionalProperties) ? additionalProperties : undefined);
    if (isResource && RESOURCE_KEYS.has(key)) setOwn(result, key, value);
    else if (property !== undefined || additionalProperties !== undefined) {
      // The server keeps all keys for `additionalProperties: true`, but prunes their values.
      const next = pruneValue(property, value, here, isEmbedded(property), dropped);
      isChanged ||= next !== value;
      setOwn(result, key, next);
    } else if (keepsUnknown) setOwn(result, key, value);
    else {
      dropped.push(here);
      isChanged = true;
    }
  }
  return isChanged ? result : object;
}
