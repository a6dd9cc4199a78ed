/** The types of values. */
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

/** The type of a value. What lists and maps hold is not looked at, and objects are maps: so `type(value)` has it. */
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

/** Whether a value can be an operand of a type: of lists and maps the first entry is looked at, as cel-go does. */
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

/** What `size` is to costs: characters of text, bytes, items, entries; 1 for what has no size, such as what failed. */
export function sizeOf(value: Outcome): number {
  if (typeof value === "string") return lengthOf(value);
  if (value === null || typeof value !== "object") return 1;
  if (value instanceof List) return value.items.length;
  if (value instanceof MapValue) return value.size;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof OpaqueValue) return value.size ?? 1;
  return 1;
}

/** How many characters a text has. */
export function lengthOf(text: string): number {
  let length = text.length;
  for (let i = 1; i < text.length; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xdc00 && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800) length--;
  }
  return length;
}
