/**
 * Checks lists that are sets or maps, and their items (`x-kubernetes-list-type`,
 * `x-kubernetes-list-map-keys`).
 */
import { own } from "../base/own.ts";
import { type FieldError, forbidden, invalid, notSupported, required } from "./field_error.ts";
import type { JsonSchema } from "./json_schema.ts";

/**
 * Returns the errors of a list's type.
 *
 * @param schema The schema of the list.
 * @param path The path of the schema.
 * @param toleratesSets Whether sets of non-atomic items are allowed.
 */
export function listTypeErrors(schema: JsonSchema, path: string, toleratesSets: boolean): FieldError[] {
  const { type, items } = schema;
  const listType = schema["x-kubernetes-list-type"];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const errors: FieldError[] = [];
  if (listType !== undefined && type !== "array") {
    const detail = "must be array if x-kubernetes-list-type is specified";
    errors.push(type === undefined ? required(`${path}.type`, detail) : invalid(`${path}.type`, type, detail));
  } else if (listType === "set" && items !== undefined && !Array.isArray(items) && !toleratesSets) {
    errors.push(...setItemErrors(items, `${path}.items`));
  }
  if (listType !== undefined && listType !== "atomic" && listType !== "set" && listType !== "map") {
    errors.push(notSupported(`${path}.x-kubernetes-list-type`, listType, ["atomic", "set", "map"]));
  }
  if (keys.length > 0 && listType !== "map") {
    const detail = "must be map if x-kubernetes-list-map-keys is non-empty";
    const at = `${path}.x-kubernetes-list-type`;
    errors.push(listType === undefined ? required(at, detail) : invalid(at, listType, detail));
  }
  return listType === "map" ? [...errors, ...mapErrors(schema, keys, path)] : errors;
}

/** Items of a set are identified by their whole value, so they must be atomic. */
function setItemErrors(items: JsonSchema, path: string): FieldError[] {
  const detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
  const listType = items["x-kubernetes-list-type"];
  if (items.type === "array" && listType !== undefined && listType !== "atomic") {
    return [invalid(`${path}.x-kubernetes-list-type`, listType, detail)];
  }
  if (items.type === "object" && items["x-kubernetes-map-type"] !== "atomic") {
    // The server quotes the list type here, which an object does not have.
    return [invalid(`${path}.x-kubernetes-map-type`, listType ?? null, detail)];
  }
  return [];
}

function mapErrors(schema: JsonSchema, keys: readonly string[], path: string): FieldError[] {
  const { items } = schema;
  const errors: FieldError[] = [];
  if (keys.length === 0) {
    errors.push(required(`${path}.x-kubernetes-list-map-keys`, "must not be empty if x-kubernetes-list-type is map"));
  }
  if (items === undefined) {
    errors.push(required(`${path}.items`, "must have a schema if x-kubernetes-list-type is map"));
  } else if (!Array.isArray(items) && items.type !== "object") {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    errors.push(invalid(`${path}.items.type`, items.type, detail));
  } else if (!Array.isArray(items)) errors.push(...keyErrors(items, keys, path));
  return errors;
}

function keyErrors(items: JsonSchema, keys: readonly string[], path: string): FieldError[] {
  const at = `${path}.x-kubernetes-list-map-keys`;
  return keys.flatMap((key, i) => {
    const errors: FieldError[] = [];
    const property = own(items.properties, key);
    if (property === undefined) errors.push(invalid(at, keys, "entries must all be names of item properties"));
    else if (property.type === "array" || property.type === "object") {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      // The server quotes the type of the items, "object".
      errors.push(invalid(`${path}.items.properties[${key}].type`, items.type, detail));
    }
    if (keys.indexOf(key) < i) errors.push(invalid(at, keys, "must not contain duplicate entries"));
    return errors;
  });
}

/**
 * Returns the errors of keys and items that may be missing or null.
 *
 * @param schema The schema of the list.
 * @param path The path of the schema.
 */
export function mapListErrors(schema: JsonSchema, path: string): FieldError[] {
  const { items } = schema;
  const listType = schema["x-kubernetes-list-type"];
  if (items === undefined || Array.isArray(items) || (listType !== "set" && listType !== "map")) return [];
  const errors: FieldError[] = [];
  if (items.nullable) {
    errors.push(forbidden(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`));
  }
  if (listType === "set") return errors;
  for (const key of schema["x-kubernetes-list-map-keys"] ?? []) {
    const property = own(items.properties, key);
    if (property === undefined) continue;
    const at = `${path}.items.properties[${key}]`;
    const detail = "this property is in x-kubernetes-list-map-keys, so it";
    if (property.default === undefined && !items.required?.includes(key)) {
      errors.push(required(`${at}.default`, `${detail} must have a default or be a required property`));
    }
    if (property.nullable) errors.push(forbidden(`${at}.nullable`, `${detail} cannot be nullable`));
  }
  return errors;
}
