/** The type of a column, from the schema its path leads to. */
import type { JsonSchema } from "../schema/mod.ts";

/** Types of columns (`CustomResourceColumnDefinition` of apiextensions.k8s.io/v1). */
export type ColumnType = "string" | "integer" | "number" | "boolean" | "date";

/** What an API server knows of every object. Its other fields are text. */
const ROOT: JsonSchema = {
  type: "object",
  properties: {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: {
      type: "object",
      properties: {
        name: { type: "string" },
        namespace: { type: "string" },
        uid: { type: "string" },
        resourceVersion: { type: "string" },
        generateName: { type: "string" },
        creationTimestamp: { type: "string", format: "date-time" },
        deletionTimestamp: { type: "string", format: "date-time" },
        generation: { type: "integer" },
        deletionGracePeriodSeconds: { type: "integer" },
        labels: { type: "object", additionalProperties: { type: "string" } },
        annotations: { type: "object", additionalProperties: { type: "string" } },
        finalizers: { type: "array", items: { type: "string" } },
        ownerReferences: { type: "array", items: { "x-kubernetes-preserve-unknown-fields": true } },
        managedFields: { type: "array", items: { "x-kubernetes-preserve-unknown-fields": true } },
      },
    },
  },
};

// .name with \. for a dot in it, ['name'], [0], [*], [?(@.type=="Ready")]
const STEP = /^(?:\.((?:\\.|[^.[\\])+)|\['([^']+)'\]|(\[(?:-?\d+|\*)\])|(\[\?\(@.+?\)\]))/;

/**
 * The type of a column.
 *
 * @param path Where the value is, such as `.spec.host`.
 * @param properties Schemas of `spec` and `status`.
 * @returns The type, or nothing when the path leads nowhere. What is not a scalar is printed as text.
 */
export function columnType(path: string, properties: { readonly [name: string]: JsonSchema }): ColumnType | undefined {
  let node: JsonSchema | undefined = { ...ROOT, properties: { ...ROOT.properties, ...properties } };
  let rest = path;
  while (rest !== "") {
    const step = STEP.exec(rest);
    if (step === null || node === undefined) return undefined;
    const [text, name, quoted] = step;
    rest = rest.slice(text.length);
    // The server reads a quoted key as a name like any other: its dots too have to be written as `\.`.
    if (quoted !== undefined) rest = `.${quoted}${rest}`;
    else node = name === undefined ? itemOf(node) : propertyOf(node, name.replaceAll(/\\(.)/g, "$1"));
  }
  return node === undefined || path === "" ? undefined : typeOf(node);
}

function propertyOf(node: JsonSchema, key: string): JsonSchema | undefined {
  if (node.properties && Object.hasOwn(node.properties, key)) return node.properties[key];
  if (typeof node.additionalProperties === "object") return node.additionalProperties;
  return isOpen(node) ? node : undefined;
}

function itemOf(node: JsonSchema): JsonSchema | undefined {
  return node.items ?? (isOpen(node) ? node : undefined);
}

function isOpen(node: JsonSchema): boolean {
  return node["x-kubernetes-preserve-unknown-fields"] === true || node.additionalProperties === true;
}

function typeOf({ type, format }: JsonSchema): ColumnType {
  if (type === "integer" || type === "number" || type === "boolean") return type;
  return type === "string" && format === "date-time" ? "date" : "string";
}
