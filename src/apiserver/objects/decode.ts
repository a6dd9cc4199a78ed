/**
 * Checking and cutting a body to the schema of a built-in kind, as Go's JSON decoder does: a wrong type refuses the body, an unknown field is
 * dropped and named, null counts as absent.
 */
import { isObject } from "../../base/json.ts";
import { own, setOwn } from "../../base/own.ts";
import { parseGoMicroTime, parseGoTime, wholeSeconds } from "../../schema/formats/time.ts";
import { goKind, goTypeName } from "../wire/go_value.ts";
import { writtenIn } from "../wire/written_numbers.ts";
import { alwaysNull } from "./always_null.ts";
import { canonicalQuantity } from "./quantity.ts";
import { builtinSchema, JSON_SCHEMA, type ServerSchema } from "./server_schema.ts";
import { zeroFields } from "./zero_fields.ts";

/** A value that does not fit its field: the message is Go's. */
export class DecodeError extends Error {
  override name = "DecodeError";
  /** What a converter of Go's own maps and lists says of it, which reads what a strategic merge patch made. */
  readonly restored: string;

  constructor(message: string, restored = message) {
    super(message);
    this.restored = restored;
  }
}

/**
 * Reads a value by a schema.
 *
 * @param schema The schema.
 * @param value The value; it is not changed.
 * @param unknown Takes the fields that were not known, such as `spec.containers[0].foo`.
 * @param path Where the value is; empty for a whole object.
 * @param emptied Takes the places of lists and maps that are dropped as they are empty.
 * @returns The value as it is kept.
 * @throws {DecodeError} If a type does not fit.
 */
export function decode(
  schema: ServerSchema,
  value: unknown,
  unknown: string[],
  path: string = "",
  emptied: string[] = [],
): unknown {
  return decodeValue(schema, value, { path, goPath: "", owner: typeName(schema), unknown, emptied });
}

interface Place {
  /** With indexes and map keys. */
  readonly path: string;
  /** As Go's decoder names fields: without them. */
  readonly goPath: string;
  /** The struct that holds the field. */
  readonly owner: string;
  readonly unknown: string[];
  readonly emptied: string[];
  /** How a number is written that is no integer to Go. */
  readonly written?: string | undefined;
}

function decodeValue(schema: ServerSchema, value: unknown, place: Place): unknown {
  if (schema["x-kubernetes-int-or-string"]) {
    if (typeof value === "number" && !isInt32(value, place)) throw mismatch(value, "int32", place);
    return value;
  }
  if (schema.schemaOr !== undefined) return decodeSchemaOr(schema.schemaOr, value, place);
  if (isQuantity(schema)) {
    if (typeof value !== "number" && typeof value !== "string") throw mismatch(value, "resource.Quantity", place);
    return quantity(String(value));
  }
  switch (schema.type) {
    case "object":
      return decodeObject(schema, value, place);
    case "array":
      return decodeArray(schema, value, place);
    case "string":
      if (typeof value !== "string") throw mismatch(value, schema.format === "byte" ? "[]uint8" : "string", place);
      if (schema.definition?.endsWith("Time")) return goTime(value, typeName(schema));
      return schema.format === "byte" ? base64(value) : value;
    case "boolean":
      if (typeof value !== "boolean") throw mismatch(value, "bool", place);
      return value;
    case "integer":
      if (typeof value !== "number") throw mismatch(value, integerType(schema), place);
      if (!Number.isInteger(value) || place.written !== undefined || !fits(value, schema)) {
        throw mismatch(value, integerType(schema), place);
      }
      return value;
    case "number":
      if (typeof value !== "number") throw mismatch(value, "float64", place);
      return value;
    default:
      return value;
  }
}

function isInt32(value: number, { written }: Place): boolean {
  return Number.isInteger(value) && written === undefined && Math.abs(value) < 2 ** 31;
}

function decodeObject(schema: ServerSchema, value: unknown, place: Place): unknown {
  const { properties, additionalProperties } = schema;
  if (!isObject(value)) throw mismatch(value, goType(schema), place);
  if (schema["x-kubernetes-preserve-unknown-fields"]) return value;
  const result: Record<string, unknown> = {};
  const owner = typeName(schema) || place.owner;
  const written = writtenIn(value);
  for (const [key, part] of Object.entries(value)) {
    // A field that no server has written for years, and that is cleared in an object's own metadata on every way in.
    if (key === "selfLink" && owner === "ObjectMeta" && place.path === "metadata") continue;
    const path = place.path === "" ? key : `${place.path}.${key}`;
    const property = own(properties, key);
    if (property !== undefined) {
      if (part === null) continue;
      const goPath = place.goPath === "" ? key : `${place.goPath}.${key}`;
      const kept = decodeValue(property, part, { ...place, path, goPath, owner, written: written?.get(key) });
      if (!isLeftOut(schema, property, key, kept)) setOwn(result, key, kept);
      else if (typeof kept === "object") place.emptied.push(path);
    } else if (isObject(additionalProperties)) {
      const member = part === null ? zero(additionalProperties) : part;
      setOwn(result, key, decodeValue(additionalProperties, member, { ...place, path, written: written?.get(key) }));
    } else if (properties === undefined) setOwn(result, key, part);
    else place.unknown.push(path);
  }
  for (const key of alwaysNull(schema.definition)) if (result[key] === undefined) result[key] = null;
  return result;
}

/** These types read their JSON by themselves: what they do not know, nobody hears of. */
function decodeSchemaOr(other: NonNullable<ServerSchema["schemaOr"]>, value: unknown, place: Place): unknown {
  const quiet = { ...place, unknown: [] };
  if (isObject(value)) return decodeValue(builtinSchema(JSON_SCHEMA), value, quiet);
  if (other === "flag" && typeof value !== "boolean") throw new DecodeError("boolean or JSON schema expected");
  if (other === "list" && Array.isArray(value)) {
    return value.map((item) => decodeValue(builtinSchema(JSON_SCHEMA), item, quiet));
  }
  return value;
}

/** An empty list or map is not written out again by Go, nor is zero where it says the same as nothing, save where the field must be there. */
function isLeftOut(schema: ServerSchema, property: ServerSchema, key: string, value: unknown): boolean {
  // In a schema they may be wrong, so they are taken away later.
  if (schema.definition === JSON_SCHEMA) return false;
  if (value === "" || value === 0 || value === false) return zeroFields(schema.definition).has(key);
  if (schema.required?.includes(key) || (key === "rules" && ROLES.test(schema.definition ?? ""))) return false;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && property.additionalProperties !== undefined && Object.keys(value).length === 0;
}

/** Their rules are written out, be they none: so that they are owned. */
const ROLES = /\.rbac\.v1\.(?:Cluster)?Role$/;

function decodeArray(schema: ServerSchema, value: unknown, place: Place): unknown {
  if (!Array.isArray(value)) throw mismatch(value, goType(schema), place);
  const { items = {} } = schema;
  const written = writtenIn(value);
  return value.map((item, i) =>
    decodeValue(items, item === null ? zero(items) : item, {
      ...place,
      path: `${place.path}[${i}]`,
      written: written?.get(String(i)),
    })
  );
}

function quantity(text: string): string {
  try {
    return canonicalQuantity(text);
  } catch (error) {
    throw new DecodeError(error instanceof Error ? error.message : String(error));
  }
}

/** A time as Go writes it again: in UTC, in whole seconds or in microseconds, which are then all there on the way in, too. */
function goTime(text: string, type: string): string {
  const time = type === "MicroTime" ? parseGoMicroTime(text) : parseGoTime(text);
  if (typeof time === "string") throw new DecodeError(time);
  if (type !== "MicroTime") return wholeSeconds(time);
  const [, fraction = ""] = /\.(\d{6})/.exec(text) ?? [];
  return wholeSeconds(time).replace("Z", `.${fraction}Z`);
}

/** Bytes, which must be base64 in full. */
function base64(text: string): string {
  const plain = text.replace(/[\r\n]/g, "");
  if (/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(plain)) return plain;
  const strange = plain.search(/[^A-Za-z0-9+/]/);
  throw new DecodeError(`illegal base64 data at input byte ${strange < 0 ? plain.length - plain.length % 4 : strange}`);
}

function zero(schema: ServerSchema): unknown {
  switch (schema.type) {
    case "string":
      return "";
    case "integer":
    case "number":
      return 0;
    case "boolean":
      return false;
    case "array":
      return [];
    case "object":
      return {};
    default:
      return null;
  }
}

function isQuantity(schema: ServerSchema): boolean {
  return schema.definition?.endsWith(".Quantity") ?? false;
}

function fits(value: number, { format }: ServerSchema): boolean {
  const bound = 2 ** (format === "int32" ? 31 : 63);
  return value >= -bound && value < bound;
}

function integerType({ format }: ServerSchema): string {
  return format ?? "int";
}

/** The name of a struct without its package. */
function typeName({ definition }: ServerSchema): string {
  return definition?.slice(definition.lastIndexOf(".") + 1) ?? "";
}

function goType(schema: ServerSchema): string {
  const { definition, type, items, additionalProperties } = schema;
  if (definition !== undefined) return definition.split(".").slice(-2).join(".");
  if (type === "array") return `[]${goType(items ?? {})}`;
  if (type === "object") {
    return `map[string]${isObject(additionalProperties) ? goType(additionalProperties) : "interface {}"}`;
  }
  if (type === "boolean") return "bool";
  return type === "integer" ? integerType(schema) : type ?? "interface {}";
}

function mismatch(value: unknown, type: string, { owner, goPath, written }: Place): DecodeError {
  const isUnfit = typeof value === "number" && (!Number.isInteger(value) || /^int\d/.test(type));
  const shown = isUnfit ? `number ${written ?? goNumber(value)}` : jsonType(value);
  const where = goPath === "" ? "" : `Go struct field ${owner}.${goPath} of type `;
  const message = `json: cannot unmarshal ${shown} into ${where === "" ? "Go value of type " : where}${type}`;
  return new DecodeError(message, restored(value, type));
}

/** A number as it is written in a body, as far as it is known: without an exponent where it is whole. */
function goNumber(value: number): string {
  return Number.isInteger(value) ? BigInt(value).toString() : String(value);
}

function restored(value: unknown, type: string): string {
  if (type.startsWith("[]")) return `cannot restore slice from ${goKind(value)}`;
  if (type.startsWith("map[")) return `cannot restore map from ${goKind(value)}`;
  if (type.includes(".")) return `cannot restore struct from: ${goKind(value)}`;
  return `cannot convert ${goTypeName(value)} to ${type}`;
}

function jsonType(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}
