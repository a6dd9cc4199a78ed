/**
 * Decodes a body with the schema of a built-in kind, as Go's JSON decoder does: a wrong type is an
 * error, an unknown field is dropped and reported, and null counts as absent.
 */
import { isObject } from "../../base/json.ts";
import { own, setOwn } from "../../base/own.ts";
import { parseGoMicroTime, parseGoTime, wholeSeconds } from "../../schema/formats/time.ts";
import { goKind, goTypeName, jsonTypeName } from "../wire/go_value.ts";
import { numberSourcesIn } from "../wire/number_sources.ts";
import { canonicalQuantity } from "./quantity.ts";
import { builtinSchema, JSON_SCHEMA, type ServerSchema } from "./server_schema.ts";
import { nullTimes, zeroFields } from "./go_fields.ts";

/** A value that does not fit its field, with Go's message. */
export class DecodeError extends Error {
  override name = "DecodeError";
  /**
   * The message for the result of a strategic merge patch, which another converter in Go decodes
   * from maps and lists.
   */
  readonly strategicMessage: string;

  constructor(message: string, strategicMessage = message) {
    super(message);
    this.strategicMessage = strategicMessage;
  }
}

/**
 * Decodes a value.
 *
 * @param schema The schema.
 * @param value The value. It is not changed.
 * @param unknown Receives the paths of unknown fields, such as `spec.containers[0].foo`.
 * @param path Path of the value; empty for a whole object.
 * @param emptied Receives the paths of lists and maps that are dropped because they are empty.
 * @returns The value to store.
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

/** Location of a value, and the lists that receive the findings about it. */
interface Location {
  /** Path with indexes and map keys. */
  readonly path: string;
  /** Path without indexes and map keys, as in messages of Go's decoder. */
  readonly goPath: string;
  /** Name of the Go struct that has the field. */
  readonly owner: string;
  readonly unknown: string[];
  readonly emptied: string[];
  /** Source text of a number that Go does not decode as an integer, such as `1.0`. */
  readonly numberSource?: string | undefined;
}

function decodeValue(schema: ServerSchema, value: unknown, location: Location): unknown {
  if (schema["x-kubernetes-int-or-string"]) {
    if (typeof value === "number" && !isInt32(value, location)) throw mismatch(value, "int32", location);
    return value;
  }
  if (schema.schemaOr !== undefined) return decodeSchemaOr(schema.schemaOr, value, location);
  if (isQuantity(schema)) {
    if (typeof value !== "number" && typeof value !== "string") throw mismatch(value, "resource.Quantity", location);
    return quantity(String(value));
  }
  switch (schema.type) {
    case "object":
      return decodeObject(schema, value, location);
    case "array":
      return decodeArray(schema, value, location);
    case "string":
      if (typeof value !== "string") throw mismatch(value, schema.format === "byte" ? "[]uint8" : "string", location);
      if (schema.definition?.endsWith("Time")) return goTime(value, typeName(schema));
      return schema.format === "byte" ? base64(value) : value;
    case "boolean":
      if (typeof value !== "boolean") throw mismatch(value, "bool", location);
      return value;
    case "integer":
      if (typeof value !== "number") throw mismatch(value, integerType(schema), location);
      if (!Number.isInteger(value) || location.numberSource !== undefined || !isInRange(value, schema)) {
        throw mismatch(value, integerType(schema), location);
      }
      return value;
    case "number":
      if (typeof value !== "number") throw mismatch(value, "float64", location);
      return value;
    default:
      return value;
  }
}

function isInt32(value: number, { numberSource }: Location): boolean {
  return Number.isInteger(value) && numberSource === undefined && Math.abs(value) < 2 ** 31;
}

function decodeObject(schema: ServerSchema, value: unknown, location: Location): unknown {
  const { properties, additionalProperties } = schema;
  if (!isObject(value)) throw mismatch(value, goType(schema), location);
  if (schema["x-kubernetes-preserve-unknown-fields"]) return value;
  const result: Record<string, unknown> = {};
  const owner = typeName(schema) || location.owner;
  const numberSource = numberSourcesIn(value);
  for (const [key, part] of Object.entries(value)) {
    // The server clears the deprecated `selfLink` in an object's own metadata before it decodes it.
    if (key === "selfLink" && owner === "ObjectMeta" && location.path === "metadata") continue;
    const path = location.path === "" ? key : `${location.path}.${key}`;
    const property = own(properties, key);
    if (property !== undefined) {
      if (part === null) continue;
      const goPath = location.goPath === "" ? key : `${location.goPath}.${key}`;
      const kept = decodeValue(property, part, {
        ...location,
        path,
        goPath,
        owner,
        numberSource: numberSource?.get(key),
      });
      if (!isDropped(schema, property, key, kept)) setOwn(result, key, kept);
      else if (typeof kept === "object") location.emptied.push(path);
    } else if (isObject(additionalProperties)) {
      const member = part === null ? zeroValue(additionalProperties) : part;
      setOwn(
        result,
        key,
        decodeValue(additionalProperties, member, { ...location, path, numberSource: numberSource?.get(key) }),
      );
    } else if (properties === undefined) setOwn(result, key, part);
    else location.unknown.push(path);
  }
  for (const key of nullTimes(schema.definition)) if (result[key] === undefined) result[key] = null;
  return result;
}

/**
 * Decodes a type with its own JSON form. Go decodes it separately, so unknown fields in it are not
 * reported.
 */
function decodeSchemaOr(
  alternative: NonNullable<ServerSchema["schemaOr"]>,
  value: unknown,
  location: Location,
): unknown {
  const withoutReports = { ...location, unknown: [] };
  if (isObject(value)) return decodeValue(builtinSchema(JSON_SCHEMA), value, withoutReports);
  if (alternative === "boolean" && typeof value !== "boolean") throw new DecodeError("boolean or JSON schema expected");
  if (alternative === "list" && Array.isArray(value)) {
    return value.map((item) => decodeValue(builtinSchema(JSON_SCHEMA), item, withoutReports));
  }
  return value;
}

/**
 * Returns whether the server drops a value. Go's encoder omits empty lists and maps, and zero
 * values that equal an absent field, unless the field is required.
 */
function isDropped(schema: ServerSchema, property: ServerSchema, key: string, value: unknown): boolean {
  // The values in a JSON schema may be invalid, so they are dropped after validation.
  if (schema.definition === JSON_SCHEMA) return false;
  if (value === "" || value === 0 || value === false) return zeroFields(schema.definition).has(key);
  if (schema.required?.includes(key) || (key === "rules" && ROLES.test(schema.definition ?? ""))) return false;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && property.additionalProperties !== undefined && Object.keys(value).length === 0;
}

/** Roles keep an empty list of rules, because `managedFields` may contain it. */
const ROLES = /\.rbac\.v1\.(?:Cluster)?Role$/;

function decodeArray(schema: ServerSchema, value: unknown, location: Location): unknown {
  if (!Array.isArray(value)) throw mismatch(value, goType(schema), location);
  const { items = {} } = schema;
  const numberSource = numberSourcesIn(value);
  return value.map((item, i) =>
    decodeValue(items, item === null ? zeroValue(items) : item, {
      ...location,
      path: `${location.path}[${i}]`,
      numberSource: numberSource?.get(String(i)),
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

/**
 * Returns a time as Go encodes it: in UTC with whole seconds, or with microseconds. For the latter,
 * the input must have all six digits.
 */
function goTime(text: string, type: string): string {
  const time = type === "MicroTime" ? parseGoMicroTime(text) : parseGoTime(text);
  if (typeof time === "string") throw new DecodeError(time);
  if (type !== "MicroTime") return wholeSeconds(time);
  const [, fraction = ""] = /\.(\d{6})/.exec(text) ?? [];
  return wholeSeconds(time).replace("Z", `.${fraction}Z`);
}

/** Decodes base64, and returns it without line breaks. */
function base64(text: string): string {
  const plain = text.replace(/[\r\n]/g, "");
  if (/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(plain)) return plain;
  const illegal = plain.search(/[^A-Za-z0-9+/]/);
  throw new DecodeError(`illegal base64 data at input byte ${illegal < 0 ? plain.length - plain.length % 4 : illegal}`);
}

function zeroValue(schema: ServerSchema): unknown {
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

function isInRange(value: number, { format }: ServerSchema): boolean {
  const bound = 2 ** (format === "int32" ? 31 : 63);
  return value >= -bound && value < bound;
}

function integerType({ format }: ServerSchema): string {
  return format ?? "int";
}

/** Returns the name of a struct without its package. */
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

function mismatch(value: unknown, type: string, { owner, goPath, numberSource }: Location): DecodeError {
  const isNumberShown = typeof value === "number" && (!Number.isInteger(value) || /^int\d/.test(type));
  const shown = isNumberShown ? `number ${numberSource ?? sourceNumber(value)}` : jsonTypeName(value);
  const where = goPath === "" ? "" : `Go struct field ${owner}.${goPath} of type `;
  const message = `json: cannot unmarshal ${shown} into ${where === "" ? "Go value of type " : where}${type}`;
  return new DecodeError(message, strategicMessage(value, type));
}

/** Formats a number as the body probably contains it: a whole number has no exponent. */
function sourceNumber(value: number): string {
  return Number.isInteger(value) ? BigInt(value).toString() : String(value);
}

function strategicMessage(value: unknown, type: string): string {
  if (type.startsWith("[]")) return `cannot restore slice from ${goKind(value)}`;
  if (type.startsWith("map[")) return `cannot restore map from ${goKind(value)}`;
  if (type.includes(".")) return `cannot restore struct from: ${goKind(value)}`;
  return `cannot convert ${goTypeName(value)} to ${type}`;
}
