/** Derives the type of a column from the schema at its path. */
import { type JsonPath, parseJsonPath, type Step } from "../base/json_path.ts";
import { isObject } from "../base/json.ts";
import type { JsonSchema } from "../schema/mod.ts";

/** Types of columns (`CustomResourceColumnDefinition` of apiextensions.k8s.io/v1). */
export type ColumnType = "string" | "integer" | "number" | "boolean" | "date";

const TEXT: JsonSchema = { type: "string" };
const TIME: JsonSchema = { type: "string", format: "date-time" };
const COUNT: JsonSchema = { type: "integer" };
const ANYTHING: JsonSchema = { "x-kubernetes-preserve-unknown-fields": true };

/** The schemas of the fields that every object has. */
const COMMON_FIELDS: Readonly<Record<string, JsonSchema>> = {
  apiVersion: TEXT,
  kind: TEXT,
  metadata: {
    type: "object",
    properties: {
      name: TEXT,
      namespace: TEXT,
      uid: TEXT,
      resourceVersion: TEXT,
      generateName: TEXT,
      creationTimestamp: TIME,
      deletionTimestamp: TIME,
      generation: COUNT,
      deletionGracePeriodSeconds: COUNT,
      labels: { type: "object", additionalProperties: TEXT },
      annotations: { type: "object", additionalProperties: TEXT },
      finalizers: { type: "array", items: TEXT },
      ownerReferences: { type: "array", items: ANYTHING },
      managedFields: { type: "array", items: ANYTHING },
    },
  },
};

/**
 * Returns the schema of a column's values.
 *
 * @param path The path of the value, such as `.spec.host`.
 * @param root The schema of a whole object.
 * @returns The schema, or `undefined` if the path does not resolve.
 * @throws {SyntaxError} If the path is invalid.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(columnSchema(".metadata.creationTimestamp", {}), {
 *   type: "string",
 *   format: "date-time",
 * });
 * assert.equal(columnSchema(".spec.host", { type: "object" }), undefined);
 * ```
 */
export function columnSchema(path: string, root: JsonSchema): JsonSchema | undefined {
  const { steps } = parseJsonPath(path);
  const [only, ...more] = steps;
  if (only?.kind !== "list" || more.length > 0 || !path.startsWith(".")) return undefined;
  return resolveSteps(withCommonFields(root), only.steps);
}

/**
 * Returns the type of a column for values of a schema. Lists and objects are printed as strings.
 *
 * @param schema The schema.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(columnType({ type: "string", format: "date-time" }), "date");
 * assert.equal(columnType({ type: "array" }), "string");
 * ```
 */
export function columnType({ type, format }: JsonSchema): ColumnType {
  if (type === "integer" || type === "number" || type === "boolean") return type;
  return type === "string" && format === "date-time" ? "date" : "string";
}

/**
 * Returns whether a filter of a path compares values of types that are never equal, such as a
 * number with a string: `.spec.ports[?(@.number=="80")]`.
 *
 * @param path The path.
 * @param root The schema of a whole object.
 */
export function hasMismatchedFilter(path: JsonPath, root: JsonSchema): boolean {
  let node: JsonSchema | undefined = withCommonFields(root);
  for (const step of path.steps.flatMap((each) => each.kind === "list" ? each.steps : [])) {
    if (node === undefined) return false;
    if (step.kind === "filter" && node.items !== undefined) {
      const [left, right] = [resolveSteps(node.items, step.left), step.right[0]];
      if (left !== undefined && right !== undefined && !isComparable(left, right)) return true;
    }
    node = resolveStep(node, step);
  }
  return false;
}

function withCommonFields(root: JsonSchema): JsonSchema {
  return { ...root, properties: { ...root.properties, ...COMMON_FIELDS } };
}

function isComparable({ type }: JsonSchema, right: Step): boolean {
  if (type === undefined || type === "object" || type === "array") return type === undefined;
  if (right.kind === "text") return type === "string";
  if (right.kind === "boolean") return type === "boolean";
  if (right.kind === "number") return type === "number" || (type === "integer" && right.isInteger);
  return right.kind !== "word";
}

function resolveSteps(node: JsonSchema | undefined, steps: readonly Step[]): JsonSchema | undefined {
  return steps.reduce<JsonSchema | undefined>(
    (current, step) => current === undefined ? undefined : resolveStep(current, step),
    node,
  );
}

function resolveStep(node: JsonSchema, step: Step): JsonSchema | undefined {
  switch (step.kind) {
    case "field":
      return propertyOf(node, step.name);
    case "slice":
      return itemOf(node);
    case "wildcard":
      return itemOf(node) ?? valueOf(node);
    case "filter": {
      const item = itemOf(node);
      return item === undefined || resolveSteps(item, step.left) === undefined ? undefined : item;
    }
    case "list":
      return resolveSteps(node, step.steps);
    case "union":
    case "recursive":
      // There may be several matches of different types.
      return ANYTHING;
    default:
      return undefined;
  }
}

function propertyOf(node: JsonSchema, key: string): JsonSchema | undefined {
  if (node.properties && Object.hasOwn(node.properties, key)) return node.properties[key];
  // An embedded object has metadata even if its schema does not declare it.
  if (node["x-kubernetes-embedded-resource"] && Object.hasOwn(COMMON_FIELDS, key)) return COMMON_FIELDS[key];
  return valueOf(node) ?? (isOpen(node) ? ANYTHING : undefined);
}

function valueOf({ additionalProperties }: JsonSchema): JsonSchema | undefined {
  return isObject(additionalProperties) ? additionalProperties : undefined;
}

function itemOf(node: JsonSchema): JsonSchema | undefined {
  return node.items ?? (isOpen(node) ? ANYTHING : undefined);
}

function isOpen(node: JsonSchema): boolean {
  return node["x-kubernetes-preserve-unknown-fields"] === true || node.additionalProperties === true;
}
