/**
 * Converts OpenAPI types to structural schemas, as CustomResourceDefinitions use them:
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
 *
 * Types, formats, enums, list types and their keys, map types, required properties and scalar
 * defaults stay as they are. These parts change, because a structural schema cannot express them or
 * an API server would reject them:
 *
 * - Quantities and IntOrString become what controller-gen writes: `x-kubernetes-int-or-string`,
 *   with a pattern for quantities.
 * - The `metadata` of a template has five fields, as controller-gen writes with
 *   `generateEmbeddedObjectMeta`. An object inside another has no status.
 * - A default of `{}` is removed, since it only means that Go always sends the struct. If the
 *   struct has a required property, the struct is required.
 * - The default of a required property is removed, since it is Go's zero value.
 * - A list of type `map` whose key may be absent becomes `atomic`: built-in kinds allow such lists,
 *   CustomResourceDefinitions do not.
 * - JSONSchemaProps contains itself, so it becomes a schema that accepts any object.
 */
import type { JsonSchema } from "../../src/schema/json_schema.ts";
import { type Model, mustBeWritten, type OpenApiSchema, QUANTITY, referenced, type Type } from "../kinds/model.ts";

const META = "io.k8s.apimachinery.pkg.apis.meta.v1.";
const EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.";

/** The `metadata` of a template. */
export const OBJECT_META = `${META}ObjectMeta`;
/** A condition in a status. */
export const CONDITION = `${META}Condition`;
/** An integer or a string, such as the number or the name of a port. */
export const INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";

/** A structural schema whose references to other definitions are not resolved. */
export interface Node extends Omit<JsonSchema, "items" | "properties" | "additionalProperties"> {
  /** The id of the referenced definition. The other keywords override those of the definition. */
  readonly $ref?: string;
  readonly items?: Node;
  readonly properties?: { readonly [name: string]: Node };
  readonly additionalProperties?: Node;
}

/** A definition as a structural schema. */
export interface Definition {
  readonly id: string;
  readonly node: Node;
  /** Description of the type. */
  readonly description: string | undefined;
  /** Descriptions of its properties. */
  readonly descriptions: { readonly [property: string]: string };
  /** Whether it is a complete object, with `metadata`. */
  readonly embedded: boolean;
}

/**
 * Definitions in `src/kinds/schemas/scalars.ts`, which is not generated. References to them remain.
 */
const HANDWRITTEN: readonly string[] = [QUANTITY, INT_OR_STRING];

const ANY_OBJECT: Node = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const INLINED: { readonly [id: string]: Node } = {
  [`${META}Time`]: { type: "string", format: "date-time" },
  [`${META}MicroTime`]: { type: "string", format: "date-time" },
  [`${META}FieldsV1`]: ANY_OBJECT,
  "io.k8s.apimachinery.pkg.runtime.RawExtension": ANY_OBJECT,
  [`${EXTENSIONS}JSON`]: { "x-kubernetes-preserve-unknown-fields": true },
  [`${EXTENSIONS}JSONSchemaProps`]: ANY_OBJECT,
};

/**
 * The fields in the metadata of a template, as in controller-gen's `generateEmbeddedObjectMeta`.
 */
const EMBEDDED_META: readonly string[] = ["annotations", "finalizers", "labels", "name", "namespace"];

/**
 * Validation of metav1.Condition that is not in the OpenAPI documents, from its markers
 * (k8s.io/apimachinery, pkg/apis/meta/v1/types.go).
 */
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
 * Returns every definition that a CustomResourceDefinition can contain, each after those that it
 * refers to.
 *
 * @param model The kinds and types.
 * @throws {Error} If a definition contains itself and is not in `INLINED`.
 */
export function structuralDefinitions(model: Model): Definition[] {
  const done = new Map<string, Definition>();
  const wanted = [...model.types.values()]
    .filter(({ id, schema, served }) =>
      schema.properties && !INLINED[id] && !id.startsWith(EXTENSIONS) && !served?.isCreateOnly
    );
  function add(id: string, ancestors: readonly string[]): void {
    if (done.has(id) || HANDWRITTEN.includes(id)) return;
    if (ancestors.includes(id)) throw new Error(`Cannot write "${id}" as a structural schema: it contains itself`);
    const definition = define(model, model.types.get(id)!);
    for (const part of referencesOf(definition.node)) add(part, [...ancestors, id]);
    done.set(id, definition);
  }
  for (const { id } of wanted) add(id, []);
  return [...done.values()];
}

/**
 * Returns the ids of the definitions that a node refers to, without duplicates, in order of
 * appearance.
 */
export function referencesOf(node: Node): string[] {
  const nodes = [node.items, node.additionalProperties, ...Object.values(node.properties ?? {})];
  const all = nodes.flatMap((part) => part ? referencesOf(part) : []);
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
    const { default: value, ...node } = convert(model, source[name]!);
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

/** Converts an OpenAPI schema to a node, without the defaults of structs and of items. */
function convert(model: Model, schema: OpenApiSchema): Node {
  const id = referenced(schema);
  const mapType = schema["x-kubernetes-map-type"];
  if (id !== undefined) return { ...convertReference(model, id), ...(mapType && { "x-kubernetes-map-type": mapType }) };
  switch (schema.type) {
    case "array":
      return convertList(model, schema);
    case "object": {
      const values = schema.additionalProperties && withoutDefault(convert(model, schema.additionalProperties));
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
      throw new Error(`Cannot write a structural schema: "${schema.type}" is not a type of structural schemas`);
  }
}

function convertReference(model: Model, id: string): Node {
  const { schema } = model.types.get(id) ?? {};
  if (schema === undefined) throw new Error(`Cannot write a structural schema: "${id}" is not in the documents`);
  if (INLINED[id]) return INLINED[id];
  return schema.properties || HANDWRITTEN.includes(id) ? { $ref: id } : convert(model, schema);
}

function convertList(model: Model, schema: OpenApiSchema): Node {
  const items = withoutDefault(convert(model, schema.items!));
  const listType = schema["x-kubernetes-list-type"];
  const keys = schema["x-kubernetes-list-map-keys"];
  const list: Node = { type: "array", items };
  if (listType !== "map" || keys === undefined) {
    return { ...list, ...(listType && { "x-kubernetes-list-type": listType }) };
  }
  const keyed = keys.every((key) => isAlwaysPresent(model, items.$ref, key));
  return {
    ...list,
    "x-kubernetes-list-type": keyed ? "map" : "atomic",
    ...(keyed && { "x-kubernetes-list-map-keys": keys }),
  };
}

/** Returns whether a property is required or has a default. */
function isAlwaysPresent(model: Model, id: string | undefined, name: string): boolean {
  const property = id && model.types.get(id)?.schema.properties?.[name];
  if (!id || !property) return false;
  return property.default !== undefined || mustBeWritten(model.types, id, name);
}

function withoutDefault({ default: _, ...node }: Node): Node {
  return node;
}
