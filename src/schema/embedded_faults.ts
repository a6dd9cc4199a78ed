/**
 * Validates embedded resources: their `apiVersion`, `kind` and `metadata`
 * (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta`).
 */
import { isObject } from "../base/json.ts";
import { label1035Faults, pathSegmentFaults } from "../base/name_rules.ts";
import { own } from "../base/own.ts";
import { type FieldError, invalid, required } from "./field_error.ts";
import type { JsonSchema } from "./json_schema.ts";
import { type CheckedMetadata, metadataFaults } from "./metadata_faults.ts";
import { readMetadata } from "./metadata_json.ts";

/**
 * Returns the errors of the resources in a value.
 *
 * @param schema The schema.
 * @param value The value.
 * @param path The path of the value; empty for a whole object.
 */
export function embeddedFaults(schema: JsonSchema, value: unknown, path = ""): FieldError[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? [] : value.flatMap((item, i) => embeddedFaults(items, item, `${path}[${i}]`));
  }
  if (!isObject(value)) return [];
  const faults = schema["x-kubernetes-embedded-resource"] ? resourceFaults(value, path) : [];
  for (const [key, part] of Object.entries(value)) {
    const property = own(schema.properties, key);
    const { additionalProperties } = schema;
    if (property !== undefined) faults.push(...embeddedFaults(property, part, below(path, key)));
    else if (isObject(additionalProperties)) {
      faults.push(...embeddedFaults(additionalProperties, part, `${path}[${key}]`));
    }
  }
  return faults;
}

function below(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

function resourceFaults(resource: Record<string, unknown>, path: string): FieldError[] {
  const [apiVersion, kind, metadata] = [own(resource, "apiVersion"), own(resource, "kind"), own(resource, "metadata")];
  const faults: FieldError[] = [];
  if (apiVersion === undefined) faults.push(required(below(path, "apiVersion")));
  else {faults.push(
      ...apiVersionFaults(apiVersion).map((fault) => invalid(below(path, "apiVersion"), apiVersion, fault)),
    );}
  if (kind === undefined) faults.push(required(below(path, "kind")));
  else faults.push(...kindFaults(kind).map((fault) => invalid(below(path, "kind"), kind, fault)));
  if (metadata === undefined || metadata === null) return faults;
  const { value, error } = readMetadata(metadata);
  if (error !== undefined) return [...faults, invalid(below(path, "metadata"), metadata, error)];
  // The name is not required.
  const checked: CheckedMetadata = { name: "name", ...value };
  return [
    ...faults,
    ...metadataFaults(checked, Boolean(checked.namespace), pathSegmentFaults, below(path, "metadata")),
  ];
}

function apiVersionFaults(apiVersion: unknown): string[] {
  if (typeof apiVersion !== "string") return ["must be a string"];
  if (apiVersion === "") return ["must not be empty"];
  return apiVersion.split("/").length > 2 ? [`unexpected GroupVersion string: ${apiVersion}`] : [];
}

function kindFaults(kind: unknown): string[] {
  if (typeof kind !== "string") return ["must be a string"];
  if (kind === "") return ["must not be empty"];
  const faults = label1035Faults(kind.toLowerCase());
  return faults.length === 0 ? [] : [`may have mixed case, but should otherwise match: ${faults.join(",")}`];
}
