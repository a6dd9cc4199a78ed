/**
 * Schemas of built-in kinds: the generated definitions, parsed on demand, with references resolved.
 */
import { isObject } from "../../base/json.ts";
import { definitions } from "../../openapi/kubernetes.gen.ts";
import type { JsonSchema } from "../../schema/json_schema.ts";
import { zeroFields } from "./go_fields.ts";

/**
 * A schema with the keywords that the server needs beyond validation. References between built-in
 * schemas can form cycles, so code must never walk a whole schema.
 */
export interface ServerSchema extends JsonSchema {
  readonly items?: ServerSchema;
  readonly properties?: { readonly [name: string]: ServerSchema };
  readonly additionalProperties?: ServerSchema | boolean;
  readonly "x-kubernetes-patch-strategy"?: string;
  readonly "x-kubernetes-patch-merge-key"?: string;
  /** Name of the definition, such as `io.k8s.api.core.v1.PodSpec`. */
  readonly definition?: string;
  /**
   * The alternative for a value that is either a JSON schema or a value of another type: `list` is
   * a list of schemas, `boolean` a boolean, `strings` a list of strings.
   */
  readonly schemaOr?: "list" | "boolean" | "strings";
}

export const JSON_SCHEMA = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";
export const OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/**
 * Parsed definitions by name. Entries cannot become stale, since the generated definitions are
 * constant.
 */
const parsed = new Map<string, ServerSchema>();

/**
 * Returns a definition.
 *
 * @param name Name in the generated data.
 * @returns The schema, the same object for each call.
 */
export function builtinSchema(name: string): ServerSchema {
  const known = parsed.get(name);
  if (known !== undefined) return known;
  const schema: Record<string, unknown> = {};
  // Registered before its parts are linked, since a part may refer back to it.
  parsed.set(name, schema as ServerSchema);
  const linkedParts = link(withoutDroppedDefaults(JSON.parse(definitions[name] ?? "{}"), name));
  Object.assign(schema, linkedParts, ownFormKeywords(name), { definition: name });
  return schema as ServerSchema;
}

/** Removes zero defaults, which the server drops after it has set them. */
function withoutDroppedDefaults(schema: JsonSchema, name: string): JsonSchema {
  const dropped = zeroFields(name);
  if (schema.properties === undefined || dropped.size === 0) return schema;
  const properties = Object.entries(schema.properties).map(([key, property]) => {
    const { default: value, ...rest } = property;
    return [key, dropped.has(key) && (value === "" || value === 0 || value === false) ? rest : property];
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}

/** Returns keywords for types with their own JSON form, which OpenAPI cannot express. */
function ownFormKeywords(name: string): ServerSchema {
  switch (name.slice(name.lastIndexOf(".") + 1)) {
    case "IntOrString":
      return { "x-kubernetes-int-or-string": true };
    case "RawExtension":
      return { type: "object", "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-map-type": "atomic" };
    case "FieldsV1":
      return { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    case "JSON":
      return { "x-kubernetes-preserve-unknown-fields": true };
    case "JSONSchemaPropsOrArray":
      return { "x-kubernetes-preserve-unknown-fields": true, schemaOr: "list" };
    case "JSONSchemaPropsOrBool":
      return { "x-kubernetes-preserve-unknown-fields": true, schemaOr: "boolean" };
    case "JSONSchemaPropsOrStringArray":
      return { "x-kubernetes-preserve-unknown-fields": true, schemaOr: "strings" };
    default:
      return {};
  }
}

function link(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(link);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([key]) => key !== "$ref").map((
    [key, part],
  ) => [key, linkPart(key, part)]);
  if (typeof value.$ref !== "string") return Object.fromEntries(entries);
  const target = builtinSchema(value.$ref);
  if (entries.length === 0) return target;
  // The target may be incomplete at this point, so it becomes the prototype instead of being
  // copied.
  return Object.assign(Object.create(target), Object.fromEntries(entries));
}

function linkPart(key: string, part: unknown): unknown {
  if (key === "default" || key === "enum") return part;
  if (key !== "properties") return link(part);
  return Object.fromEntries(Object.entries(part as object).map(([name, property]) => [name, link(property)]));
}
