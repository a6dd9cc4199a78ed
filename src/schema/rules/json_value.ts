/**
 * Converts JSON values to CEL values by their schemas, lazily (`k8s.io/apiserver/pkg/cel/common`,
 * valuesunstructured.go).
 */
import { equal, isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { timeSpan } from "../../base/time_span.ts";
import { isEqual } from "../../cel/comparison.ts";
import { CelError, DurationValue, List, MapValue, OpaqueValue, Timestamp, type Value } from "../../cel/value.ts";
import type { CelType } from "../../cel/type.ts";
import { celName, propertyName } from "../_cel_name.ts";
import type { JsonSchema } from "../json_schema.ts";
import { isInt64 } from "../go_text.ts";
import { parseDate, parseDateTime } from "../formats/time.ts";
import { withTypeAndMetadata } from "./declared_type.ts";
import { atomicSemantics, mapListSemantics, setSemantics } from "./list_semantics.ts";

/**
 * Converts a JSON value to a CEL value.
 *
 * @param value The value.
 * @param schema Its schema.
 * @throws {CelError} If the value does not match the schema.
 */
export function celValue(value: unknown, schema: JsonSchema): Value {
  if (value === null || value === undefined) {
    if (schema.nullable) return null;
    throw new CelError("invalid data, got null for schema with nullable=false");
  }
  if (schema["x-kubernetes-int-or-string"]) return intOrString(value);
  switch (schema.type) {
    case "object":
      if (!isObject(value)) throw new CelError("invalid data, expected a map for the provided schema with type=object");
      return new JsonMap(value, schema["x-kubernetes-embedded-resource"] ? withTypeAndMetadata(schema) : schema);
    case "array":
      return listValue(value, schema);
    case "string":
      if (typeof value !== "string") throw wrongTypeError("string", value);
      return stringValue(value, schema.format);
    case "number":
      if (typeof value !== "number") throw wrongTypeError("float", value);
      return value;
    case "integer":
      if (typeof value !== "number" || !isInt64(value)) throw wrongTypeError("int", value);
      return integerValue(value);
    case "boolean":
      if (typeof value !== "boolean") throw wrongTypeError("bool", value);
      return value;
  }
  if (schema["x-kubernetes-preserve-unknown-fields"]) return new Unknown(value);
  throw new CelError(
    "invalid type, expected object, array, number, integer, boolean or string, or no type with x-kubernetes-int-or-string or " +
      `x-kubernetes-preserve-unknown-fields is true, got ${schema.type ?? ""}`,
  );
}

function intOrString(value: unknown): Value {
  if (typeof value === "string") return value;
  if (typeof value === "number" && isInt64(value)) return integerValue(value);
  throw new CelError("invalid data, expected XIntOrString value to be either a string or integer");
}

/** Beyond 2^53, the server uses the JSON digits rather than the closest double. */
function integerValue(value: number): bigint {
  return BigInt(Number.isSafeInteger(value) ? value : String(value));
}

function wrongTypeError(wanted: string, value: unknown): CelError {
  return new CelError(`invalid data, expected ${wanted}, got ${goType(value)}`);
}

function goType(value: unknown): string {
  if (Array.isArray(value)) return "[]interface {}";
  if (isObject(value)) return "map[string]interface {}";
  if (typeof value === "number") return isInt64(value) ? "int64" : "float64";
  return typeof value === "boolean" ? "bool" : typeof value;
}

function stringValue(text: string, format: string | undefined): Value {
  switch (format) {
    case "duration": {
      const nanoseconds = timeSpan(text);
      if (nanoseconds !== undefined) return new DurationValue(nanoseconds);
      throw new CelError(`Invalid duration ${text}: unable to parse ${text} as duration`);
    }
    case "date": {
      const time = parseDate(text);
      if (typeof time !== "string") return new Timestamp(time.seconds, time.nanoseconds);
      throw new CelError(`Invalid date formatted string ${text}: ${time}`);
    }
    case "date-time": {
      const time = parseDateTime(text);
      if (typeof time !== "string") return new Timestamp(time.seconds, time.nanoseconds, time.offset);
      throw new CelError(`Invalid date-time formatted string ${text}: ${time}`);
    }
    case "byte":
      return bytesValue(text);
    default:
      return text;
  }
}

/** As on the server, base64 uses the URL alphabet, which the format `byte` does not allow. */
function bytesValue(text: string): Uint8Array {
  const position = text.search(/[^A-Za-z0-9_=-]/);
  if (position !== -1) {
    throw new CelError(`Invalid byte formatted string ${text}: illegal base64 data at input byte ${position}`);
  }
  const bytes = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(bytes, (character) => character.charCodeAt(0));
}

function listValue(value: unknown, schema: JsonSchema): Value {
  if (!Array.isArray(value)) {
    throw new CelError("invalid data, expected an array for the provided schema with type=array");
  }
  const { items } = schema;
  if (items === undefined) throw new CelError("invalid array type, expected Items with a non-empty Schema");
  const values = convertEach(value, (item) => celValue(item, items));
  switch (schema["x-kubernetes-list-type"]) {
    case "map":
      return new List(values, mapListSemantics(schema["x-kubernetes-list-map-keys"] ?? []));
    case "set":
      return new List(values, setSemantics(items.type));
    default:
      return new List(values, atomicSemantics((added) => convertEach(added, (item) => toListItem(item, items))));
  }
}

/**
 * Converts a value that an expression added to a JSON list. The server treats it as a JSON value
 * even if it is another CEL value.
 */
function toListItem(value: Value, schema: JsonSchema): Value {
  if (value instanceof JsonMap || value instanceof Unknown) return celValue(value.raw, schema);
  if (value instanceof MapValue) return celValue([], schema);
  if (value instanceof List && value.semantics !== undefined) return value;
  if (typeof value === "bigint") {
    if (schema.type === "integer" || schema["x-kubernetes-int-or-string"]) return value;
    return celValue(Number(value), schema);
  }
  if (typeof value === "number" && schema.type === "integer") {
    throw new CelError("invalid data, expected int, got float64");
  }
  if (schema.type === "string" && typeof value === "object" && value !== null) {
    throw new CelError(`invalid data, expected string, got ${nativeType(value)}`);
  }
  return celValue(value, schema);
}

function nativeType(value: Value): string {
  if (value instanceof Timestamp) return "time.Time";
  if (value instanceof DurationValue) return "time.Duration";
  return value instanceof Uint8Array ? "[]uint8" : "ref.Val";
}

/**
 * Converts the items of a list. Unlike the fields of objects, items are converted immediately. If a
 * conversion fails, only the expressions that access the item fail.
 */
function convertEach<T>(list: readonly T[], convert: (item: T) => Value): readonly Value[] {
  const values: Value[] = [];
  for (let i = 0; i < list.length; i++) {
    try {
      values[i] = convert(list[i]!);
    } catch (error) {
      Object.defineProperty(values, i, {
        enumerable: true,
        get() {
          throw error;
        },
      });
    }
  }
  return values;
}

/** A JSON object as a CEL value: an object with declared fields, or a map with arbitrary keys. */
export class JsonMap extends MapValue {
  readonly #schema: JsonSchema;
  readonly #converted: Map<string, Value | undefined> = new Map();

  constructor(readonly raw: Readonly<Record<string, unknown>>, schema: JsonSchema) {
    super();
    this.#schema = schema;
  }

  override get size(): number {
    return Object.keys(this.raw).length;
  }

  override get(key: Value): Value | undefined {
    if (typeof key !== "string") throw new CelError("no such overload");
    if (!this.#converted.has(key)) this.#converted.set(key, this.#find(key));
    return this.#converted.get(key);
  }

  #find(key: string): Value | undefined {
    const isObjectType = this.#schema.properties !== undefined;
    const name = isObjectType ? propertyName(key) : key;
    if (name === undefined) return undefined;
    const value = own(this.raw, name);
    // A null field counts as missing.
    if (value === undefined || (isObjectType && value === null)) return undefined;
    const schema = this.#schemaOf(name);
    return schema && celValue(value, schema);
  }

  #schemaOf(name: string): JsonSchema | undefined {
    const { properties, additionalProperties } = this.#schema;
    if (properties !== undefined) return own(properties, name);
    return isObject(additionalProperties) ? additionalProperties : undefined;
  }

  override *keys(): Iterable<Value> {
    const isObjectType = this.#schema.properties !== undefined;
    for (const name of Object.keys(this.raw)) {
      if (this.#schemaOf(name) === undefined) continue;
      yield isObjectType ? celName(name) ?? name : name;
    }
  }

  override equals(other: MapValue): boolean {
    if (this.size !== other.size) return false;
    return Object.keys(this.raw).every((name) => {
      if (this.#schemaOf(name) === undefined) {
        // Undeclared parts are compared as JSON.
        if (!(other instanceof JsonMap)) throw new CelError("no such overload");
        const theirs = own(other.raw, name);
        return theirs === undefined || equal(this.raw[name], theirs);
      }
      const [mine, theirs] = [this.get(name), other.get(name)];
      return mine === undefined || theirs === undefined ? mine === theirs : isEqual(mine, theirs);
    });
  }
}

const UNKNOWN: CelType = { kind: "opaque", name: "unknown" };

/** A value without a declared type. Rules cannot access its parts, only compare it. */
class Unknown extends OpaqueValue {
  override readonly type = UNKNOWN;

  constructor(readonly raw: unknown) {
    super();
  }

  override equals(other: OpaqueValue): boolean {
    return other instanceof Unknown && equal(this.raw, other.raw);
  }
}
