/**
 * Structural schemas, as a CustomResourceDefinition holds them, out of the types of OpenAPI: https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
 *
 * Taken over: types, formats, enums, list types and their keys, map types, required properties, defaults that are a value. Mended is what a
 * structural schema lacks or an API server would refuse:
 *
 * - Quantities and numbers-or-names become what controller-gen writes: `x-kubernetes-int-or-string`, with a pattern.
 * - `metadata` of a template keeps five fields, as controller-gen writes with `generateEmbeddedObjectMeta`; a whole object inside another has
 *   no status.
 * - A default of `{}` goes: it says that Go sends the struct always. Where something in the struct is required, so is the struct.
 * - A default of a required property goes: it is Go's zero value.
 * - A list of type `map` whose key may be missing becomes `atomic`: built-in kinds allow that, a CustomResourceDefinition does not.
 * - A schema in a schema (JSONSchemaProps) contains itself: any object stands there.
 */
import type { JsonSchema } from "../../src/schema/json_schema.ts";
import { type Model, mustBeWritten, type OpenApiSchema, QUANTITY, referenced, type Type } from "../kinds/model.ts";

const META = "io.k8s.apimachinery.pkg.apis.meta.v1.";
const EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.";

/** `metadata` of a template. */
export const OBJECT_META = `${META}ObjectMeta`;
/** A condition of a status. */
export const CONDITION = `${META}Condition`;
/** A number or a name. */
export const INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";

/** A structural schema in which other definitions are still references. */
export interface Node extends Omit<JsonSchema, "items" | "properties" | "additionalProperties"> {
  /** The definition that stands here, under the keywords beside it. */
  readonly $ref?: string;
  readonly items?: Node;
  readonly properties?: { readonly [name: string]: Node };
  readonly additionalProperties?: Node;
}

/** A definition as a structural schema. */
export interface Definition {
  readonly id: string;
  readonly node: Node;
  /** What it is for, and each of its properties. */
  readonly description: string | undefined;
  readonly descriptions: { readonly [property: string]: string };
  /** Whether it is an object of its own, with `metadata`. */
  readonly embedded: boolean;
}

/** Written by hand in `src/kinds/schemas/scalars.ts`: references stay references. */
const ELSEWHERE: readonly string[] = [QUANTITY, INT_OR_STRING];

const ANY_OBJECT: Node = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const INLINED: { readonly [id: string]: Node } = {
  [`${META}Time`]: { type: "string", format: "date-time" },
  [`${META}MicroTime`]: { type: "string", format: "date-time" },
  [`${META}FieldsV1`]: ANY_OBJECT,
  "io.k8s.apimachinery.pkg.runtime.RawExtension": ANY_OBJECT,
  [`${EXTENSIONS}JSON`]: { "x-kubernetes-preserve-unknown-fields": true },
  [`${EXTENSIONS}JSONSchemaProps`]: ANY_OBJECT,
};

/** What a template's metadata keeps: controller-gen's `generateEmbeddedObjectMeta`. */
const EMBEDDED_META: readonly string[] = ["annotations", "finalizers", "labels", "name", "namespace"];

/** Bounds of metav1.Condition that OpenAPI does not tell, from its markers (k8s.io/apimachinery, pkg/apis/meta/v1/types.go). */
const CONDITION_BOUNDS: { readonly [property: string]: Node } = {
  message: { maxLength: 32768 },
  observedGeneration: { minimum: 0 },
  reason: { maxLength: 1024, minLength: 1, pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$" },
  status: { enum: ["True", "False", "Unknown"] },
  type: {
    maxLength: 316,
    pattern:
      "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
  },
};

/**
 * Every definition that can stand in a CustomResourceDefinition, those that others are made of first.
 *
 * @param model Kinds and types.
 * @throws {Error} If a definition contains itself and nothing here cuts it.
 */
export function structuralDefinitions(model: Model): Definition[] {
  const done = new Map<string, Definition>();
  const wanted = [...model.types.values()]
    .filter(({ id, schema, served }) =>
      schema.properties && !INLINED[id] && !id.startsWith(EXTENSIONS) && !served?.asked
    );
  function add(id: string, above: readonly string[]): void {
    if (done.has(id) || ELSEWHERE.includes(id)) return;
    if (above.includes(id)) throw new Error(`Cannot write "${id}" as a structural schema: it contains itself`);
    const definition = define(model, model.types.get(id)!);
    for (const part of referencesOf(definition.node)) add(part, [...above, id]);
    done.set(id, definition);
  }
  for (const { id } of wanted) add(id, []);
  return [...done.values()];
}

/** Definitions that a node refers to, each once, in the order in which they stand. */
export function referencesOf(node: Node): string[] {
  const below = [node.items, node.additionalProperties, ...Object.values(node.properties ?? {})];
  const all = below.flatMap((part) => part ? referencesOf(part) : []);
  return [...new Set(node.$ref ? [node.$ref, ...all] : all)];
}

function define(model: Model, { id, schema, served }: Type): Definition {
  const source = schema.properties ?? {};
  const names = Object.keys(source).filter((name) => id !== OBJECT_META || EMBEDDED_META.includes(name))
    .filter((name) => !served || name !== "status");
  const required = names.filter((name) => mustBeWritten(model.types, id, name));
  const properties: [string, Node][] = names.map((name) => {
    if (served && name === "apiVersion") return [name, { type: "string", enum: [apiVersionOf(served)] }];
    if (served && name === "kind") return [name, { type: "string", enum: [served.kind] }];
    const { default: value, ...node } = lower(model, source[name]!);
    return [name, {
      ...node,
      ...(id === CONDITION && CONDITION_BOUNDS[name]),
      ...(value !== undefined && !required.includes(name) && { default: value }),
    }];
  });
  const mapType = schema["x-kubernetes-map-type"];
  return {
    id,
    description: schema.description,
    descriptions: Object.fromEntries(names.flatMap((name) => {
      const { description } = source[name]!;
      return description ? [[name, description]] : [];
    })),
    embedded: served !== undefined,
    node: {
      type: "object",
      ...(names.length > 0 && { properties: Object.fromEntries(properties) }),
      ...(required.length > 0 && { required }),
      ...(mapType && { "x-kubernetes-map-type": mapType }),
    },
  };
}

function apiVersionOf({ group, version }: { readonly group: string; readonly version: string }): string {
  return group === "" ? version : `${group}/${version}`;
}

/** A schema of OpenAPI as a node. A default of a struct or of an item is none. */
function lower(model: Model, schema: OpenApiSchema): Node {
  const id = referenced(schema);
  const mapType = schema["x-kubernetes-map-type"];
  if (id !== undefined) return { ...lowerReference(model, id), ...(mapType && { "x-kubernetes-map-type": mapType }) };
  switch (schema.type) {
    case "array":
      return lowerList(model, schema);
    case "object": {
      const values = schema.additionalProperties && withoutDefault(lower(model, schema.additionalProperties));
      return {
        type: "object",
        ...(values && { additionalProperties: values }),
        ...(mapType && { "x-kubernetes-map-type": mapType }),
      };
    }
    case "string":
    case "integer":
    case "number":
    case "boolean": {
      const { type, format, enum: values, default: value } = schema;
      return {
        type,
        ...(format && { format }),
        ...(values && { enum: values }),
        ...(value !== undefined && { default: value }),
      };
    }
    default:
      throw new Error(`Cannot write a structural schema: "${schema.type}" is no type of one`);
  }
}

function lowerReference(model: Model, id: string): Node {
  const { schema } = model.types.get(id) ?? {};
  if (schema === undefined) throw new Error(`Cannot write a structural schema: "${id}" is not in the documents`);
  if (INLINED[id]) return INLINED[id];
  return schema.properties || ELSEWHERE.includes(id) ? { $ref: id } : lower(model, schema);
}

function lowerList(model: Model, schema: OpenApiSchema): Node {
  const items = withoutDefault(lower(model, schema.items!));
  const listType = schema["x-kubernetes-list-type"];
  const keys = schema["x-kubernetes-list-map-keys"];
  const list: Node = { type: "array", items };
  if (listType !== "map" || keys === undefined) {
    return { ...list, ...(listType && { "x-kubernetes-list-type": listType }) };
  }
  const keyed = keys.every((key) => isAlwaysThere(model, items.$ref, key));
  return {
    ...list,
    "x-kubernetes-list-type": keyed ? "map" : "atomic",
    ...(keyed && { "x-kubernetes-list-map-keys": keys }),
  };
}

/** Whether a property is required or has a default. */
function isAlwaysThere(model: Model, id: string | undefined, name: string): boolean {
  const property = id && model.types.get(id)?.schema.properties?.[name];
  if (!id || !property) return false;
  return property.default !== undefined || mustBeWritten(model.types, id, name);
}

function withoutDefault({ default: _, ...node }: Node): Node {
  return node;
}
