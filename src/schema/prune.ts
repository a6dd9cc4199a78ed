/** Dropping what a structural schema does not know (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning`). */
import { isObject } from "../base/json.ts";
import { own, setOwn } from "../base/own.ts";
import type { JsonSchema } from "./json_schema.ts";

/** What {@linkcode prune} made. */
export interface Pruned {
  /** The value without what the schema does not know; shared with what was given where nothing was dropped. */
  readonly value: unknown;
  /** Where something was dropped, such as `spec.size` or `spec.ports[0].nam`. */
  readonly dropped: readonly string[];
}

/**
 * Drops the fields that a schema does not know.
 *
 * @param schema The schema of an object of its own or embedded in another: `apiVersion`, `kind` and `metadata` stay at its root.
 * @param value The object; it is not changed.
 * @returns The pruned object and what was dropped.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const schema = { type: "object", properties: { spec: { type: "object", properties: { host: { type: "string" } } } } } as const;
 * const { value, dropped } = prune(schema, { kind: "Website", spec: { host: "a", hots: "b" } });
 * assert.deepEqual(value, { kind: "Website", spec: { host: "a" } });
 * assert.deepEqual(dropped, ["spec.hots"]);
 * ```
 */
export function prune(schema: JsonSchema, value: unknown): Pruned {
  const dropped: string[] = [];
  return { value: pruned(schema, value, "", true, dropped), dropped };
}

const RESOURCE_KEYS = new Set(["apiVersion", "kind", "metadata"]);

function pruned(schema: JsonSchema, value: unknown, path: string, isResource: boolean, dropped: string[]): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) {
      if (schema["x-kubernetes-preserve-unknown-fields"]) return value;
      return value.map((item, i) => pruned({}, item, `${path}[${i}]`, false, dropped));
    }
    const result = value.map((item, i) =>
      pruned(items, item, `${path}[${i}]`, items["x-kubernetes-embedded-resource"] ?? false, dropped)
    );
    return result.every((item, i) => item === value[i]) ? value : result;
  }
  return isObject(value) ? prunedObject(schema, value, path, isResource, dropped) : value;
}

function prunedObject(
  schema: JsonSchema,
  object: Record<string, unknown>,
  path: string,
  isResource: boolean,
  dropped: string[],
): Record<string, unknown> {
  const { properties, additionalProperties } = schema;
  const keepsAll = schema["x-kubernetes-preserve-unknown-fields"] === true || additionalProperties === true;
  const result: Record<string, unknown> = {};
  let isChanged = false;
  for (const [key, value] of Object.entries(object)) {
    const here = path === "" ? key : `${path}.${key}`;
    const known: JsonSchema | undefined = own(properties, key) ??
      (isObject(additionalProperties) ? additionalProperties : undefined);
    const isOwnMetadata = isResource && RESOURCE_KEYS.has(key);
    if (isOwnMetadata || (known === undefined && keepsAll)) setOwn(result, key, value);
    else if (known === undefined) {
      dropped.push(here);
      isChanged = true;
    } else {
      const next = pruned(known, value, here, known["x-kubernetes-embedded-resource"] ?? false, dropped);
      isChanged ||= next !== value;
      setOwn(result, key, next);
    }
  }
  return isChanged ? result : object;
}
