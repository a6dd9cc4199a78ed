/**
 * What is wrong with resources that stand within others: their `apiVersion`, `kind` and `metadata`
 * (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta`).
 */
import { isObject } from "../base/json.ts";
import { label1035Faults, pathSegmentFaults } from "../base/name_rules.ts";
import { own } from "../base/own.ts";
import { type FieldError, invalid, required } from "./field_error.ts";
import type { JsonSchema } from "./json_schema.ts";
import { type CheckedMetadata, metadataFaults } from "./metadata_faults.ts";

/**
 * What is wrong with the resources in a value.
 *
 * @param schema The schema.
 * @param value The value.
 * @param path Where it stands; empty for the whole.
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
  const mismatch = metadataMismatch(metadata);
  if (mismatch !== undefined) return [...faults, invalid(below(path, "metadata"), metadata, mismatch)];
  // It need not have a name.
  const checked: CheckedMetadata = { ...metadata, name: String(own(metadata as CheckedRecord, "name") || "name") };
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

type CheckedRecord = Readonly<Record<string, unknown>>;

/** A type of Go: a scalar, or what lists, maps and structs are made of. */
type GoType = string | { readonly list: GoType } | { readonly map: GoType } | GoStruct;

interface GoStruct {
  readonly name: string;
  readonly fields: { readonly [name: string]: GoType };
}

const OWNER: GoStruct = {
  name: "v1.OwnerReference",
  fields: {
    apiVersion: "string",
    kind: "string",
    name: "string",
    uid: "types.UID",
    controller: "bool",
    blockOwnerDeletion: "bool",
  },
};

const MANAGER: GoStruct = {
  name: "v1.ManagedFieldsEntry",
  fields: {
    manager: "string",
    operation: "v1.ManagedFieldsOperationType",
    apiVersion: "string",
    fieldsType: "string",
    subresource: "string",
  },
};

const METADATA: GoStruct = {
  name: "v1.ObjectMeta",
  fields: {
    name: "string",
    generateName: "string",
    namespace: "string",
    selfLink: "string",
    uid: "types.UID",
    resourceVersion: "string",
    generation: "int64",
    deletionGracePeriodSeconds: "int64",
    labels: { map: "string" },
    annotations: { map: "string" },
    ownerReferences: { list: OWNER },
    finalizers: { list: "string" },
    managedFields: { list: MANAGER },
  },
};

/** What Go's JSON decoder says of metadata that is none, or nothing. */
function metadataMismatch(metadata: unknown): string | undefined {
  return mismatch(METADATA, metadata, "Go value of type ");
}

function mismatch(type: GoType, value: unknown, into: string): string | undefined {
  if (value === null) return undefined;
  const wrong = `json: cannot unmarshal ${type === "int64" ? jsonNumber(value) : jsonType(value)} into ${into}${
    goName(type)
  }`;
  if (typeof type === "string") return isScalar(type, value) ? undefined : wrong;
  if ("list" in type) return Array.isArray(value) ? first(value, (item) => mismatch(type.list, item, into)) : wrong;
  if (!isObject(value)) return wrong;
  if ("map" in type) return first(Object.values(value), (item) => mismatch(type.map, item, into));
  const name = type.name.slice(type.name.indexOf(".") + 1);
  return first(Object.entries(type.fields), ([key, field]) => {
    const part = own(value, key);
    if (part === undefined) return undefined;
    const path = into.startsWith("Go struct field ")
      ? `${into.slice(0, -" of type ".length)}.${key}`
      : `Go struct field ${name}.${key}`;
    return mismatch(field, part, `${path} of type `);
  });
}

function first<T>(list: readonly T[], find: (each: T) => string | undefined): string | undefined {
  for (const each of list) {
    const found = find(each);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isScalar(type: string, value: unknown): boolean {
  if (type === "bool") return typeof value === "boolean";
  return type === "int64" ? Number.isInteger(value) : typeof value === "string";
}

function jsonType(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

function jsonNumber(value: unknown): string {
  return typeof value === "number" ? `number ${value}` : jsonType(value);
}

function goName(type: GoType): string {
  if (typeof type === "string") return type;
  if ("list" in type) return `[]${goName(type.list)}`;
  return "map" in type ? `map[string]${goName(type.map)}` : type.name;
}
