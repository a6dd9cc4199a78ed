/** Types of values at run time. */
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  STRING,
  TIMESTAMP,
  typeName,
  typeOf,
  UINT,
} from "./type.ts";
import type { Outcome } from "./outcome.ts";
import { DurationValue, List, MapValue, OpaqueValue, Optional, Timestamp, Uint, type Value } from "./value.ts";

const LIST = listOf(DYN);
const MAP = mapOf(DYN, DYN);
const OPTIONAL = optionalOf(DYN);
const TYPE = typeOf(DYN);

/**
 * Returns the type of a value, as `type(value)` does: without the types of list items and map
 * entries, and objects are maps.
 */
export function typeOfValue(value: Value): CelType {
  switch (typeof value) {
    case "boolean":
      return BOOL;
    case "bigint":
      return INT;
    case "number":
      return DOUBLE;
    case "string":
      return STRING;
  }
  if (value === null) return NULL;
  if (value instanceof List) return LIST;
  if (value instanceof MapValue) return MAP;
  if (value instanceof Uint) return UINT;
  if (value instanceof Uint8Array) return BYTES;
  if (value instanceof Timestamp) return TIMESTAMP;
  if (value instanceof DurationValue) return DURATION;
  if (value instanceof Optional) return OPTIONAL;
  return value instanceof OpaqueValue ? value.type : TYPE;
}

/**
 * Returns whether a value can be an operand of a type. As in cel-go, only the first entry of a list
 * or map is checked.
 */
export function hasType(value: Value, type: CelType): boolean {
  if (type.kind === "dyn" || type.kind === "parameter") return true;
  if (typeName(type) !== typeName(typeOfValue(value))) return false;
  if (type.kind === "list" && value instanceof List) {
    const first = value.items[0];
    return first === undefined || hasType(first, type.items);
  }
  if (type.kind === "map" && value instanceof MapValue) {
    for (const key of value.keys()) {
      return hasType(key, type.key) && hasType(value.get(key) ?? null, type.value);
    }
  }
  return true;
}

/**
 * Returns the size of a value for cost computations: characters, bytes, items or entries. It is 1
 * for other values and for failures.
 */
export function sizeOf(value: Outcome): number {
  if (typeof value === "string") return lengthOf(value);
  if (value === null || typeof value !== "object") return 1;
  if (value instanceof List) return value.items.length;
  if (value instanceof MapValue) return value.size;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof OpaqueValue) return value.size ?? 1;
  return 1;
}

/** Returns the number of characters of a string. */
export function lengthOf(text: string): number {
  let length = text.length;
  for (let i = 1; i < text.length; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xdc00 && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800) length--;
  }
  return length;
}
