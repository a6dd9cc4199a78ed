/** Types of embedded resources, which are read as those of a whole object are (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta`, coerce.go). */
import { isObject } from "../base/json.ts";
import { own, setOwn } from "../base/own.ts";
import { type FieldError, invalid } from "../schema/field_error.ts";
import type { JsonSchema } from "../schema/json_schema.ts";
import { decode, DecodeError } from "./decode.ts";
import { builtinSchema, OBJECT_META } from "./server_schema.ts";

/**
 * Reads the metadata of embedded resources.
 *
 * @param schema The schema of the value.
 * @param value The value; it is not changed.
 * @param unknown Takes the fields that were not known.
 * @param path Where the value stands; empty for a whole object.
 * @returns The value, shared with what was given where there is nothing to read.
 * @throws {DecodeError} If a type does not fit.
 */
export function decodeEmbedded(schema: JsonSchema, value: unknown, unknown: string[], path = ""): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return value;
    const result = value.map((item, i) => decodeEmbedded(items, item, unknown, `${path}[${i}]`));
    return result.every((item, i) => item === value[i]) ? value : result;
  }
  if (!isObject(value)) return value;
  const isResource = schema["x-kubernetes-embedded-resource"] === true;
  let result = value;
  for (const [key, part] of Object.entries(value)) {
    const property = own(schema.properties, key);
    const { additionalProperties } = schema;
    const here = path === "" ? key : `${path}.${key}`;
    let next = part;
    if (isResource) next = decodePart(key, part, unknown, here);
    if (property !== undefined) next = decodeEmbedded(property, next, unknown, here);
    else if (isObject(additionalProperties)) {
      next = decodeEmbedded(additionalProperties, next, unknown, `${path}[${key}]`);
    }
    if (next === part) continue;
    if (result === value) result = { ...value };
    setOwn(result, key, next);
  }
  return result;
}

function decodePart(key: string, part: unknown, unknown: string[], path: string): unknown {
  if (key === "apiVersion" || key === "kind") {
    if (typeof part !== "string") throw refused(invalid(path, part, "must be a string"));
    return part;
  }
  if (key !== "metadata" || part === null) return part;
  try {
    return decode(builtinSchema(OBJECT_META), part, unknown, path);
  } catch (error) {
    throw error instanceof DecodeError ? refused(invalid(path, part, error.message)) : error;
  }
}

function refused({ field, message }: FieldError): DecodeError {
  return new DecodeError(`${field}: ${message}`);
}
