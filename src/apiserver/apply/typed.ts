/**
 * Determines whether managers own a value as a whole or own its parts
 * (`sigs.k8s.io/structured-merge-diff/v6/typed`).
 */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import type { ServerSchema } from "../objects/server_schema.ts";
import { goSyntax, goTypeName, goValue } from "../wire/go_value.ts";
import { FieldSet, sorted } from "./field_set.ts";

/** How managers own a value: as a whole (leaf), or by field or item. */
export type Shape =
  | { readonly kind: "leaf" }
  | { readonly kind: "map"; readonly schema: ServerSchema; readonly isAny: boolean }
  | { readonly kind: "list"; readonly schema: ServerSchema };

const LEAF: Shape = { kind: "leaf" };
const ANY: ServerSchema = {};

/**
 * Returns the shape of a value. Atomic and missing values are leaves.
 *
 * @param schema Schema of the value.
 * @param value The value.
 */
export function shapeOf(schema: ServerSchema, value: unknown): Shape {
  if (Array.isArray(value)) return isAssociative(schema) ? { kind: "list", schema } : LEAF;
  if (!isObject(value)) return LEAF;
  if (schema["x-kubernetes-map-type"] === "atomic") return LEAF;
  const isAny = schema.type === undefined || schema["x-kubernetes-preserve-unknown-fields"] === true;
  return schema.type === "object" || isAny ? { kind: "map", schema, isAny } : LEAF;
}

function isAssociative(schema: ServerSchema): boolean {
  const type = schema["x-kubernetes-list-type"];
  return type === "map" || type === "set";
}

/** Returns the schema of a field, and whether the schema names the field. */
export function fieldSchema(schema: ServerSchema, key: string): { schema: ServerSchema; isNamed: boolean } | undefined {
  const property = own(schema.properties, key);
  if (property !== undefined) return { schema: property, isNamed: true };
  if (isObject(schema.additionalProperties)) return { schema: schema.additionalProperties, isNamed: false };
  const isOpen = schema.additionalProperties === true || schema["x-kubernetes-preserve-unknown-fields"] === true ||
    schema.type === undefined;
  return isOpen ? { schema: ANY, isNamed: false } : undefined;
}

/** Returns the schema of items. */
export function itemSchema(schema: ServerSchema): ServerSchema {
  return schema.items ?? ANY;
}

/**
 * Returns the step of an item of a list.
 *
 * @param schema Schema of the list.
 * @param item The item.
 * @throws {TypeError} If the item has no key, with Go's message.
 */
export function itemStep(schema: ServerSchema, item: unknown): string {
  if (schema["x-kubernetes-list-type"] === "set") {
    if (item === null) throw new TypeError("associative list without keys has an element that's an explicit null");
    if (Array.isArray(item)) throw new TypeError("not supported: associative list with lists as elements");
    if (isObject(item)) throw new TypeError("associative list without keys has an element that's a map type");
    return `v:${sorted(item)}`;
  }
  if (!isObject(item)) {
    throw new TypeError(
      item === null
        ? "associative list with keys may not have a null element"
        : "associative list with keys may not have non-map elements",
    );
  }
  const keys: Record<string, unknown> = {};
  let isFound = false;
  for (const key of schema["x-kubernetes-list-map-keys"] ?? []) {
    const value = own(item, key) ?? own(schema.items?.properties, key)?.default;
    if (value === undefined) continue;
    keys[key] = value;
    isFound = true;
  }
  if (!isFound) {
    throw new TypeError(
      `associative list with keys has an element that omits all key fields ${
        goList(schema)
      } (and doesn't have default values for any key fields)`,
    );
  }
  return `k:${sorted(keys)}`;
}

function goList(schema: ServerSchema): string {
  return `[${(schema["x-kubernetes-list-map-keys"] ?? []).map((key) => JSON.stringify(key)).join(" ")}]`;
}

/**
 * Returns the fields that a value sets.
 *
 * @param schema Schema of the value.
 * @param value The value.
 */
export function fieldsOf(schema: ServerSchema, value: unknown): FieldSet {
  const set = new FieldSet();
  collect(schema, value, set);
  return set;
}

/**
 * Adds the fields of a value to a set. Returns whether the value is a leaf, which the caller then
 * adds.
 */
function collect(schema: ServerSchema, value: unknown, set: FieldSet): boolean {
  const shape = shapeOf(schema, value);
  if (shape.kind === "map") {
    for (const [key, part] of Object.entries(value as Record<string, unknown>)) {
      const field = fieldSchema(schema, key);
      if (part === undefined || field === undefined) continue;
      const step = `f:${key}`;
      const isLeaf = collectInto(field.schema, part, set, step);
      const isEmpty = part === null || (isObject(part) && Object.keys(part).length === 0);
      if (isLeaf || isEmpty || !field.isNamed) set.members.add(step);
    }
    return false;
  }
  if (shape.kind === "list") {
    for (const item of value as readonly unknown[]) {
      const step = itemStep(schema, item);
      collectInto(itemSchema(schema), item, set, step);
      set.members.add(step);
    }
    return false;
  }
  return true;
}

function collectInto(schema: ServerSchema, value: unknown, set: FieldSet, step: string): boolean {
  const below = new FieldSet();
  const isLeaf = collect(schema, value, below);
  if (!below.isEmpty) set.children.set(step, set.children.get(step)?.union(below) ?? below);
  return isLeaf;
}

/**
 * Adds the named fields that contain fields of the set, so that their removal removes them as a
 * whole.
 *
 * @param schema The schema.
 * @param set The set.
 */
export function withNamedFields(schema: ServerSchema | undefined, set: FieldSet): FieldSet {
  const result = new FieldSet();
  for (const step of set.members) result.members.add(step);
  for (const [step, child] of set.children) {
    const key = step.slice(2);
    if (step.startsWith("f:")) {
      const field = schema === undefined ? undefined : fieldSchema(schema, key);
      if (field?.isNamed) result.members.add(step);
      result.children.set(step, withNamedFields(field?.schema, child));
    } else result.children.set(step, withNamedFields(schema === undefined ? undefined : itemSchema(schema), child));
  }
  return result;
}

/**
 * Returns a value without the fields of a set.
 *
 * @param schema Schema of the value.
 * @param value The value. It is not changed.
 * @param set The fields to remove.
 * @returns The rest; `undefined` if it is empty.
 */
export function withoutFields(schema: ServerSchema, value: unknown, set: FieldSet): unknown {
  const shape = shapeOf(schema, value);
  if (shape.kind === "leaf") return isObject(value) || Array.isArray(value) ? undefined : value;
  if (shape.kind === "list") {
    const items = (value as readonly unknown[]).flatMap((item) => {
      const step = itemStep(schema, item);
      if (set.members.has(step)) return [];
      const child = set.children.get(step);
      return child === undefined || child.isEmpty ? [item] : [withoutFields(itemSchema(schema), item, child) ?? null];
    });
    return items.length === 0 ? undefined : items;
  }
  const entries = Object.entries(value as Record<string, unknown>).flatMap(([key, part]): [string, unknown][] => {
    const step = `f:${key}`;
    if (set.members.has(step)) return [];
    const child = set.children.get(step);
    if (child === undefined || child.isEmpty) return [[key, part]];
    return [[key, withoutFields(fieldSchema(schema, key)?.schema ?? ANY, part, child) ?? null]];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/**
 * Returns the type errors of an applied value: fields that the schema does not declare, items
 * without key, and items with duplicate keys.
 *
 * @param schema The schema.
 * @param value The value.
 * @param path Path of the value, as messages contain it.
 */
export function typeErrors(schema: ServerSchema, value: unknown, path = ""): string[] {
  if (value === null) return [];
  const mismatch = mismatchOf(schema, value);
  if (mismatch !== undefined) return [`${path}: ${mismatch}`];
  if (Array.isArray(value)) {
    const seen = new Set<string>();
    return value.flatMap((item, i) => {
      let step = `[${i}]`;
      if (isAssociative(schema)) {
        try {
          const id = itemStep(schema, item);
          step = id.startsWith("v:") ? `[=${id.slice(2)}]` : keyText(id);
          if (seen.has(id)) return [`${path}: duplicate entries for key ${step}`];
          seen.add(id);
        } catch (error) {
          return [`${path}: element ${i}: ${error instanceof Error ? error.message : error}`];
        }
      }
      return typeErrors(itemSchema(schema), item, path + step);
    });
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, part]) => {
    const field = fieldSchema(schema, key);
    if (field === undefined) return [`${path}.${key}: field not declared in schema`];
    return typeErrors(field.schema, part, `${path}.${key}`);
  });
}

function keyText(step: string): string {
  const keys = JSON.parse(step.slice(2)) as Record<string, unknown>;
  return `[${Object.entries(keys).map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(",")}]`;
}

function mismatchOf(schema: ServerSchema, value: unknown): string | undefined {
  if (schema["x-kubernetes-int-or-string"] || schema.definition?.endsWith(".Quantity")) return undefined;
  switch (schema.type) {
    case "object":
      return isObject(value) ? undefined : `expected map, got &{${goValue(value)}}`;
    case "array":
      return Array.isArray(value) ? undefined : `expected list, got &{${goValue(value)}}`;
    case "string":
      return typeof value === "string"
        ? undefined
        : `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`;
    case "boolean":
      return typeof value === "boolean" ? undefined : `expected boolean, got &{${goValue(value)}}`;
    case "integer":
    case "number":
      return typeof value === "number" ? undefined : `expected numeric (int or float), got ${goTypeName(value)}`;
    default:
      return undefined;
  }
}
