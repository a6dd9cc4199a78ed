/**
 * Decodes `metadata` like Go's JSON decoder decodes ObjectMeta, and encodes it again without
 * unknown fields and empty values (`k8s.io/apimachinery/pkg/apis/meta/v1`, types.go, time.go;
 * `sigs.k8s.io/json`).
 */
import { isObject } from "../base/json.ts";
import { own, setOwn } from "../base/own.ts";
import { parseGoTime, wholeSeconds } from "./formats/time.ts";

/** Decoded metadata. */
export interface ReadMetadata {
  /** The encoded form; `undefined` if there is an error. */
  readonly value?: Readonly<Record<string, unknown>>;
  /** Unknown fields, such as `ownerReferences[0].other`. */
  readonly unknown: readonly string[];
  /** The decoder's error message. */
  readonly error?: string;
}

/** A Go type: a scalar, or the elements of a list, map or struct. `any` is not decoded. */
type GoType =
  | "string"
  | "types.UID"
  | "v1.ManagedFieldsOperationType"
  | "int64"
  | "bool"
  | "time"
  | "any"
  | { readonly list: GoType }
  | { readonly map: GoType }
  | GoStruct;

interface GoStruct {
  readonly name: string;
  readonly fields: { readonly [name: string]: GoType };
  /** Fields that are encoded even if they are empty. */
  readonly always?: readonly string[];
  /** Fields that are pointers: they are omitted only if they are nil. */
  readonly pointers?: readonly string[];
}

const OWNER_REFERENCE: GoStruct = {
  name: "v1.OwnerReference",
  fields: {
    apiVersion: "string",
    kind: "string",
    name: "string",
    uid: "types.UID",
    controller: "bool",
    blockOwnerDeletion: "bool",
  },
  always: ["apiVersion", "kind", "name", "uid"],
  pointers: ["controller", "blockOwnerDeletion"],
};

const MANAGED_FIELDS_ENTRY: GoStruct = {
  name: "v1.ManagedFieldsEntry",
  fields: {
    manager: "string",
    operation: "v1.ManagedFieldsOperationType",
    apiVersion: "string",
    time: "time",
    fieldsType: "string",
    fieldsV1: "any",
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
    creationTimestamp: "time",
    deletionTimestamp: "time",
    deletionGracePeriodSeconds: "int64",
    labels: { map: "string" },
    annotations: { map: "string" },
    ownerReferences: { list: OWNER_REFERENCE },
    finalizers: { list: "string" },
    managedFields: { list: MANAGED_FIELDS_ENTRY },
  },
  pointers: ["deletionGracePeriodSeconds"],
};

/**
 * Decodes metadata.
 *
 * @param metadata The metadata; null counts as empty.
 */
export function readMetadata(metadata: unknown): ReadMetadata {
  const reader = new Reader();
  const value = reader.read(METADATA, metadata, { path: "", goPath: "", owner: "" });
  if (reader.error !== undefined) return { unknown: [], error: reader.error };
  return { value: (value ?? {}) as Record<string, unknown>, unknown: reader.unknown };
}

/**
 * Decodes metadata field by field, and drops fields of a wrong type.
 *
 * @param metadata The metadata.
 */
export function readValidMetadata(metadata: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const result: Record<string, unknown> = {};
  for (const [key, part] of Object.entries(metadata)) Object.assign(result, readMetadata({ [key]: part }).value);
  return result;
}

/** The position of a value. */
interface Position {
  /** The path with indexes and map keys. */
  readonly path: string;
  /** The path in the decoder's messages, without indexes and keys. */
  readonly goPath: string;
  /** The struct that contains the field. */
  readonly owner: string;
}

class Reader {
  readonly unknown: string[] = [];
  /** The first error. The decoder continues, but reports no other. */
  error: string | undefined;

  read(type: GoType, value: unknown, position: Position): unknown {
    if (value === null) return undefined;
    if (type === "any") return value;
    if (type === "time") return this.#time(value, position);
    if (typeof type === "string") return this.#scalar(type, value, position);
    if ("list" in type) return this.#list(type, value, position);
    if (!isObject(value)) return this.#mismatch(type, value, position);
    return "map" in type ? this.#map(type, value, position) : this.#struct(type, value, position);
  }

  #scalar(type: string, value: unknown, position: Position): unknown {
    const isValid = type === "bool"
      ? typeof value === "boolean"
      : type === "int64"
      ? Number.isInteger(value) && Math.abs(value as number) < 2 ** 63
      : typeof value === "string";
    return isValid ? value : this.#mismatch(type as GoType, value, position);
  }

  #time(value: unknown, position: Position): unknown {
    if (typeof value !== "string") return this.#mismatch("string", value, position);
    const time = parseGoTime(value);
    // Go's zero time is encoded as null.
    if (typeof time !== "string") return wholeSeconds(time) === "0001-01-01T00:00:00Z" ? undefined : wholeSeconds(time);
    this.#fail(time);
    return undefined;
  }

  #list(type: { readonly list: GoType }, value: unknown, position: Position): unknown {
    if (!Array.isArray(value)) return this.#mismatch(type, value, position);
    return value.map((item, i) => {
      return this.read(type.list, item, { ...position, path: `${position.path}[${i}]` }) ?? zeroValue(type.list);
    });
  }

  #map(type: { readonly map: GoType }, value: Record<string, unknown>, position: Position): unknown {
    const result: Record<string, unknown> = {};
    for (const [key, part] of sortedEntries(value)) {
      setOwn(result, key, this.read(type.map, part, position) ?? zeroValue(type.map));
    }
    return result;
  }

  #struct(type: GoStruct, value: Record<string, unknown>, position: Position): unknown {
    const result: Record<string, unknown> = zeroValue(type) as Record<string, unknown>;
    const owner = shortName(type);
    for (const [key, part] of sortedEntries(value)) {
      const field = own(type.fields, key);
      const path = position.path === "" ? key : `${position.path}.${key}`;
      if (field === undefined) {
        this.unknown.push(path);
        continue;
      }
      const goPath = position.goPath === "" ? key : `${position.goPath}.${key}`;
      const read = this.read(field, part, { path, goPath, owner });
      if (read === undefined) continue;
      if (!isEmpty(read) || type.always?.includes(key) || type.pointers?.includes(key)) result[key] = read;
    }
    return result;
  }

  #mismatch(type: GoType, value: unknown, { owner, goPath }: Position): undefined {
    const shown = type === "int64" && typeof value === "number" ? `number ${value}` : jsonType(value);
    const where = goPath === "" ? "Go value of type " : `Go struct field ${owner}.${goPath} of type `;
    this.#fail(`json: cannot unmarshal ${shown} into ${where}${goName(type)}`);
  }

  #fail(error: string): void {
    this.error ??= error;
  }
}

/** Sorts fields: the server encodes metadata as JSON before it decodes it. */
function sortedEntries(object: Record<string, unknown>): [string, unknown][] {
  return Object.entries(object).sort(([a], [b]) => a < b ? -1 : 1);
}

/** Returns the zero value that replaces a null in a list or map. */
function zeroValue(type: GoType): unknown {
  if (type === "int64") return 0;
  if (type === "bool") return false;
  if (typeof type === "string") return "";
  if ("list" in type) return null;
  return "map" in type ? null : Object.fromEntries((type.always ?? []).map((key) => [key, ""]));
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) ? Object.keys(value).length === 0 : value === "" || value === 0 || value === false;
}

function shortName({ name }: GoStruct): string {
  return name.slice(name.indexOf(".") + 1);
}

function jsonType(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

function goName(type: GoType): string {
  if (typeof type === "string") return type;
  if ("list" in type) return `[]${goName(type.list)}`;
  return "map" in type ? `map[string]${goName(type.map)}` : type.name;
}
