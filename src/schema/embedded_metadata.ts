/** Resources within others, read as whole ones are (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta`, algorithm.go). */
import { isObject } from "../base/json.ts";
import { own, setOwn } from "../base/own.ts";
import { type FieldError, invalid } from "./field_error.ts";
import type { JsonSchema } from "./json_schema.ts";
import { readFittingMetadata, readMetadata } from "./metadata_json.ts";

/** Options for {@linkcode readEmbedded}. */
export interface ReadEmbeddedOptions {
  /** Where the value stands. @default {the whole} */
  readonly path?: string;
  /** Takes the fields of metadata that were not known. */
  readonly unknown?: string[];
  /** What becomes of what is of a wrong type: it is kept, dropped, or whatever a function makes of it. @default {"keep"} */
  readonly misfit?: "keep" | "drop" | ((fault: FieldError) => never);
}

/**
 * Reads the metadata of the resources in a value, as it is before defaults are filled in.
 *
 * @param schema The schema of the value.
 * @param value The value; it is not changed.
 * @param options Additional options.
 * @returns The value, shared with what was given where there is nothing to read.
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
  { path = "", unknown, misfit = "keep" }: ReadEmbeddedOptions,
): unknown {
  // Such a null is dropped before.
  if (part === null && property !== undefined && !property.nullable && property.default === undefined) return part;
  if (key === "apiVersion" || key === "kind") {
    if (typeof part === "string" || misfit === "keep") return part;
    return misfit === "drop" ? undefined : misfit(invalid(path, part, "must be a string"));
  }
  if (key !== "metadata") return part;
  const { value, unknown: found, error } = readMetadata(part);
  if (error === undefined) {
    unknown?.push(...found.map((field) => `${path}.${field}`));
    return value;
  }
  if (misfit === "keep") return part;
  if (misfit === "drop") return isObject(part) ? readFittingMetadata(part) : part;
  return misfit(invalid(path, part, error));
}
