/**
 * Validates embedded resources: their `apiVersion`, `kind` and `metadata`
 * (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta`).
 */
import { isObject } from "../base/json.ts";
import { label1035Errors, pathSegmentErrors } from "../base/name_rules.ts";
import { own } from "../base/own.ts";
import { type FieldError, invalid, required } from "./field_error.ts";
import type { JsonSchema } from "./json_schema.ts";
import { type CheckedMetadata, metadataErrors } from "./metadata_errors.ts";
import { readMetadata } from "./metadata_json.ts";

/**
 * Returns the errors of the resources in a value.
 *
 * @param schema The schema.
 * @param value The value.
 * @param path The path of the value; empty for a whole object.
 */
export function embeddedErrors(schema: JsonSchema, value: unknown, path = ""): FieldError[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? [] : value.flatMap((item, i) => embeddedErrors(items, item, `${path}[${i}]`));
  }
  if (!isObject(value)) return [];
  const errors = schema["x-kubernetes-embedded-resource"] ? resourceErrors(value, path) : [];
  for (const [key, part] of Object.entries(value)) {
    const property = own(schema.properties, key);
    const { additionalProperties } = schema;
    if (property !== undefined) errors.push(...embeddedErrors(property, part, below(path, key)));
    else if (isObject(additionalProperties)) {
      errors.push(...embeddedErrors(additionalProperties, part, `${path}[${key}]`));
    }
  }
  return errors;
}

function below(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

function resourceErrors(resource: Record<string, unknown>, path: string): FieldError[] {
  const [apiVersion, kind, metadata] = [own(resource, "apiVersion"), own(resource, "kind"), own(resource, "metadata")];
  const errors: FieldError[] = [];
  if (apiVersion === undefined) errors.push(required(below(path, "apiVersion")));
  else {errors.push(
      ...apiVersionErrors(apiVersion).map((error) => invalid(below(path, "apiVersion"), apiVersion, error)),
    );}
  if (kind === undefined) errors.push(required(below(path, "kind")));
  else errors.push(...kindErrors(kind).map((error) => invalid(below(path, "kind"), kind, error)));
  if (metadata === undefined || metadata === null) return errors;
  const { value, error } = readMetadata(metadata);
  if (error !== undefined) return [...errors, invalid(below(path, "metadata"), metadata, error)];
  // The name is not required.
  const checked: CheckedMetadata = { name: "name", ...value };
  return [
    ...errors,
    ...metadataErrors(checked, Boolean(checked.namespace), pathSegmentErrors, below(path, "metadata")),
  ];
}

function apiVersionErrors(apiVersion: unknown): string[] {
  if (typeof apiVersion !== "string") return ["must be a string"];
  if (apiVersion === "") return ["must not be empty"];
  return apiVersion.split("/").length > 2 ? [`unexpected GroupVersion string: ${apiVersion}`] : [];
}

function kindErrors(kind: unknown): string[] {
  if (typeof kind !== "string") return ["must be a string"];
  if (kind === "") return ["must not be empty"];
  const errors = label1035Errors(kind.toLowerCase());
  return errors.length === 0 ? [] : [`may have mixed case, but should otherwise match: ${errors.join(",")}`];
}
