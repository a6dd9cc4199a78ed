/**
 * Decodes the metadata of embedded resources like that of whole objects
 * (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta`, algorithm.go).
 */
import { isObject } from "../base/json.ts";
import { own, setOwn } from "../base/own.ts";
import { type FieldError, invalid } from "./field_error.ts";
import type { JsonSchema } from "./json_schema.ts";
import { readMetadata, readValidMetadata } from "./metadata_json.ts";

/** Options for {@linkcode readEmbedded}. */
export interface ReadEmbeddedOptions {
  /** The path of the value. @default {a whole object} */
  readonly path?: string;
  /** Receives the paths of unknown metadata fields. */
  readonly unknown?: string[];
  /**
   * The handling of values of a wrong type: `"keep"`, `"drop"`, or a function that throws an error.
   * @default {"keep"}
   */
  readonly onWrongType?: "keep" | "drop" | ((error: FieldError) => never);
}

/**
 * Decodes the metadata of the resources in a value. This happens before defaults are set.
 *
 * @param schema The schema of the value.
 * @param value The value; it is not modified.
 * @param options Additional options.
 * @returns The value; the same object if it contains no metadata.
 */
export function readEmbedded(schema: JsonSchema, value: unknown, options: ReadEmbeddedOptions = {}): unknown {
  const { path = "" } = options;
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return value;
    const result = value.map((item, i) => readEmbedded(items, item, { ...options, path: `${path}[${i}]` }));
    return result.every((item, i) => item === value[i]) ? value : result;
  }
  if (!isObject(value)) return value;
  const isResource = schema["x-kubernetes-embedded-resource"] === true;
  const { additionalProperties } = schema;
  let result = value;
  for (const [key, part] of Object.entries(value)) {
    const property = own(schema.properties, key);
    const here = path === "" ? key : `${path}.${key}`;
    let next = part;
    if (isResource) next = readPart(key, part, property, { ...options, path: here });
    if (property !== undefined) next = readEmbedded(property, next, { ...options, path: here });
    else if (isObject(additionalProperties)) {
      next = readEmbedded(additionalProperties, next, { ...options, path: `${path}[${key}]` });
    }
    if (next === part) continue;
    if (result === value) result = { ...value };
    if (next === undefined) delete result[key];
    else setOwn(result, key, next);
  }
  return result;
}

function readPart(
  key: string,
  part: unknown,
  property: JsonSchema | undefined,
  { path = "", unknown, onWrongType = "keep" }: ReadEmbeddedOptions,
): unknown {
  // dropNulls() drops such a null.
  if (part === null && property !== undefined && !property.nullable && property.default === undefined) return part;
  if (key === "apiVersion" || key === "kind") {
    if (typeof part === "string" || onWrongType === "keep") return part;
    return onWrongType === "drop" ? undefined : onWrongType(invalid(path, part, "must be a string"));
  }
  if (key !== "metadata") return part;
  const { value, unknown: found, error } = readMetadata(part);
  if (error === undefined) {
    unknown?.push(...found.map((field) => `${path}.${field}`));
    return value;
  }
  if (onWrongType === "keep") return part;
  if (onWrongType === "drop") return isObject(part) ? readValidMetadata(part) : part;
  return onWrongType(invalid(path, part, error));
}
