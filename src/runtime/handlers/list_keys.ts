/** Finds the keys of lists in the schemas of kinds. */
import { own } from "../../base/own.ts";
import type { ListKeys } from "../../handlers/diff.ts";
import type { AnyKind } from "../../resource/kind.ts";
import type { JsonSchema } from "../../schema/json_schema.ts";

/**
 * Returns a function that returns the keys of a list of a kind's objects, if its schema declares
 * them (`x-kubernetes-list-type: map`).
 *
 * @param kind The kind. Lists of kinds without a definition have no keys.
 */
export function listKeysOf({ crd, version }: AnyKind): ListKeys {
  const root = crd?.spec.versions.find(({ name }) => name === version)?.schema.openAPIV3Schema;
  if (root === undefined) return () => undefined;
  return (path) => {
    const schema = path.reduce<JsonSchema | undefined>(schemaIn, root);
    return schema?.["x-kubernetes-list-type"] === "map" ? schema["x-kubernetes-list-map-keys"] : undefined;
  };
}

function schemaIn(schema: JsonSchema | undefined, name: string): JsonSchema | undefined {
  if (schema === undefined) return undefined;
  const { properties, additionalProperties, items } = schema;
  if (name === "*" && items !== undefined) return items;
  return own(properties ?? {}, name) ?? (typeof additionalProperties === "object" ? additionalProperties : undefined);
}
