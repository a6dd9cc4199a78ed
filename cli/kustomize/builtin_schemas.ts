/** Scope and merge rules of built-in kinds, from generated OpenAPI data. */

/** A schema with the fields that merging needs. */
export interface MergeSchema {
  /** `merge`, `replace` or both, separated by a comma. */
  readonly "x-kubernetes-patch-strategy"?: string;
  /** The field that identifies an item of a list in a strategic merge patch. */
  readonly "x-kubernetes-patch-merge-key"?: string;
  /** The fields that identify an item of a list in server-side apply. */
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  /** Schemas of an object's properties. */
  readonly properties?: Readonly<Record<string, MergeSchema>>;
  /** Schema of a map's values. */
  readonly additionalProperties?: MergeSchema | boolean;
  /** Schema of a list's items. */
  readonly items?: MergeSchema;
  /** Name of the definition that this schema refers to. */
  readonly $ref?: string;
}

/** Scope and schemas of built-in kinds. */
export interface BuiltinSchemas {
  /**
   * Returns whether objects of a kind are in a namespace.
   *
   * @param apiVersion For example `apps/v1`.
   * @param kind For example `Deployment`.
   * @returns `undefined` if the kind is not built in.
   */
  isNamespaced(apiVersion: string, kind: string): boolean | undefined;
  /** Returns the schema of a kind, or `undefined` if the kind is not built in. */
  schemaOf(apiVersion: string, kind: string): MergeSchema | undefined;
  /** Returns the schema of a property, or of a map's values. References are followed. */
  property(schema: MergeSchema | undefined, name: string): MergeSchema | undefined;
  /** Returns the schema of a list's items. References are followed. */
  items(schema: MergeSchema | undefined): MergeSchema | undefined;
}

/**
 * Loads scope and schemas of the kinds that are built into Kubernetes.
 *
 * The data is imported on the first call, because most commands do not need it.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const builtin = await builtinSchemas();
 * assert.equal(builtin.isNamespaced("apps/v1", "Deployment"), true);
 * const spec = builtin.property(builtin.schemaOf("v1", "Service"), "spec");
 * assert.equal(builtin.property(spec, "ports")?.["x-kubernetes-patch-merge-key"], "port");
 * ```
 */
export async function builtinSchemas(): Promise<BuiltinSchemas> {
  const { definitions, resources } = await import("./merge_schemas.gen.ts");
  const parsed = new Map<string, MergeSchema>();
  const definition = (name: string): MergeSchema => {
    const schema = parsed.get(name) ?? JSON.parse(definitions[name] ?? "{}") as MergeSchema;
    parsed.set(name, schema);
    return schema;
  };
  // Rules next to a reference, such as the merge key of a list, apply in addition to the rules of
  // the referenced schema.
  const resolved = (schema: MergeSchema | undefined): MergeSchema | undefined => {
    if (schema?.$ref === undefined) return schema;
    const { $ref, ...rules } = schema;
    return { ...definition($ref), ...rules };
  };
  const find = (apiVersion: string, kind: string) => {
    const [version, group = ""] = apiVersion.split("/").reverse();
    return resources.find((one) => one.group === group && one.version === version && one.kind === kind);
  };
  return {
    isNamespaced: (apiVersion, kind) => find(apiVersion, kind)?.namespaced,
    schemaOf(apiVersion, kind) {
      const name = find(apiVersion, kind)?.schema;
      return name === undefined ? undefined : definition(name);
    },
    property(schema, name) {
      const { properties, additionalProperties } = resolved(schema) ?? {};
      if (properties !== undefined && Object.hasOwn(properties, name)) return resolved(properties[name]);
      return typeof additionalProperties === "object" ? resolved(additionalProperties) : undefined;
    },
    items: (schema) => resolved(resolved(schema)?.items),
  };
}
