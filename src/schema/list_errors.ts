/**
 * Duplicate items in lists that are sets or maps
 * (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype`).
 */
import { isObject } from "../base/json.ts";
import { own } from "../base/own.ts";
import { duplicate, type FieldError, invalid } from "./field_error.ts";
import { goJson } from "./go_text.ts";
import type { JsonSchema } from "./json_schema.ts";

/**
 * Returns the duplicate items of a list and of nested lists. Of several equal items, only the
 * second one is reported.
 *
 * @param schema The schema.
 * @param value The value.
 * @param path The path of the value; empty for a whole object.
 */
export function listErrors(schema: JsonSchema, value: unknown, path = ""): FieldError[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    const errors = duplicates(schema, value, path);
    if (items === undefined) return errors;
    return [...errors, ...value.flatMap((item, i) => listErrors(items, item, `${path}[${i}]`))];
  }
  if (!isObject(value)) return [];
  const { properties, additionalProperties } = schema;
  const errors: FieldError[] = [];
  for (const [key, part] of Object.entries(value)) {
    if (isObject(additionalProperties)) errors.push(...listErrors(additionalProperties, part, `${path}[${key}]`));
    const property = own(properties, key);
    if (property !== undefined) errors.push(...listErrors(property, part, path === "" ? key : `${path}.${key}`));
  }
  return errors;
}

function duplicates(schema: JsonSchema, list: readonly unknown[], path: string): FieldError[] {
  switch (schema["x-kubernetes-list-type"]) {
    case "set":
      return secondOccurrences(list).map((i) => duplicate(`${path}[${i}]`, list[i] ?? null));
    case "map":
      return duplicateKeys(schema["x-kubernetes-list-map-keys"] ?? [], list, path);
    default:
      return [];
  }
}

function duplicateKeys(names: readonly string[], list: readonly unknown[], path: string): FieldError[] {
  const invalidIndex = list.findIndex((item) => item !== null && !isObject(item));
  if (invalidIndex !== -1) {
    return [invalid(`${path}[${invalidIndex}]`, list[invalidIndex], "must be an object for an array of list-type map")];
  }
  const keys = list.map((item) => keysOf(names, item));
  return secondOccurrences(keys).map((i) => duplicate(`${path}[${i}]`, keys[i]));
}

/**
 * Returns the keys of an item. A missing key is a key value, too: it is equal in all items that
 * lack it.
 */
function keysOf(names: readonly string[], item: unknown): Record<string, unknown> {
  if (!isObject(item)) return {};
  return Object.fromEntries(names.flatMap((name) => own(item, name) === undefined ? [] : [[name, item[name]]]));
}

/** Returns the indexes of second occurrences. */
function secondOccurrences(list: readonly unknown[]): number[] {
  if (list.length <= 1) return [];
  const times = new Map<string, number>();
  return list.flatMap((item, i) => {
    const text = goJson(item);
    const before = times.get(text) ?? 0;
    times.set(text, before + 1);
    return before === 1 ? [i] : [];
  });
}
