/** Equality and order of values (cel-go, common/types). */
import { typeName } from "./type.ts";
import {
  CelError,
  DurationValue,
  List,
  MapValue,
  ObjectValue,
  OpaqueValue,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from "./value.ts";

/** Whether two values are equal. Numbers are by what they count, whatever their types; values of different types are not equal. */
export function isEqual(a: Value, b: Value): boolean {
  switch (typeof a) {
    case "bigint":
    case "number":
      return isNumber(b) && compareNumbers(a, b) === 0;
    case "string":
    case "boolean":
      return a === b;
  }
  if (a === null || b === null) return a === b;
  if (a instanceof Uint) return isNumber(b) && compareNumbers(a, b) === 0;
  if (a instanceof List) return areEqualLists(a, b);
  if (a instanceof MapValue || a instanceof ObjectValue) return areEqualMaps(a, b);
  if (a instanceof Timestamp) {
    return b instanceof Timestamp && a.seconds === b.seconds && a.nanoseconds === b.nanoseconds;
  }
  if (a instanceof DurationValue) return b instanceof DurationValue && a.nanoseconds === b.nanoseconds;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && compareBytes(a, b) === 0;
  if (a instanceof Optional) return b instanceof Optional && areEqualOptionals(a, b);
  if (a instanceof TypeValue) return b instanceof TypeValue && typeName(a.type) === typeName(b.type);
  return b instanceof OpaqueValue && a.equals(b);
}

/**
 * Which of two values comes first: negative where it is `a`.
 *
 * @throws {CelError} If they have no order.
 */
export function compare(a: Value, b: Value): number {
  if (isNumber(a) && isNumber(b)) {
    const order = compareNumbers(a, b);
    if (order === undefined) throw new CelError("NaN values cannot be ordered");
    return order;
  }
  if (typeof a === "string" && typeof b === "string") return compareText(a, b);
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  if (a instanceof Timestamp && b instanceof Timestamp) {
    if (a.seconds !== b.seconds) return a.seconds < b.seconds ? -1 : 1;
    return a.nanoseconds - b.nanoseconds;
  }
  if (a instanceof DurationValue && b instanceof DurationValue) {
    return a.nanoseconds === b.nanoseconds ? 0 : a.nanoseconds < b.nanoseconds ? -1 : 1;
  }
  if (a instanceof Uint8Array && b instanceof Uint8Array) return compareBytes(a, b);
  throw new CelError(Number.isNaN(a) ? "NaN values cannot be ordered" : "no such overload");
}

/** Whether a list has an item. */
export function contains(list: List, wanted: Value): boolean {
  return list.items.some((item) => isEqual(wanted, item));
}

/** What a map or an object has at a key, or nothing. */
export function entryAt(map: MapValue | ObjectValue, key: Value): Value | undefined {
  if (map instanceof MapValue) return map.get(key);
  if (typeof key !== "string") throw new CelError("no such overload");
  return map.get(key);
}

/** The keys of a map, or the fields of an object that are set. */
export function keysOf(map: MapValue | ObjectValue): Iterable<Value> {
  return map instanceof MapValue ? map.keys() : map.fields();
}

type Numeric = bigint | number | Uint;

function isNumber(value: Value): value is Numeric {
  return typeof value === "bigint" || typeof value === "number" || value instanceof Uint;
}

/** Nothing where one of them is not a number. JavaScript compares whole and broken numbers by what they count, where cel-go rounds the whole one first. */
function compareNumbers(a: Numeric, b: Numeric): number | undefined {
  let x = a instanceof Uint ? a.value : a;
  let y = b instanceof Uint ? b.value : b;
  if (typeof x !== typeof y) {
    if (typeof x === "number" && isWithin(x, b)) y = Number(y);
    else if (typeof y === "number" && isWithin(y, a)) x = Number(x);
  }
  if (x < y) return -1;
  if (x > y) return 1;
  return Number.isNaN(x) || Number.isNaN(y) ? undefined : 0;
}

function isWithin(value: number, whole: Numeric): boolean {
  return whole instanceof Uint ? value >= 0 && value <= 2 ** 64 : value >= -(2 ** 63) && value <= 2 ** 63;
}

/** By code points, as UTF-8 compares; JavaScript would put those above 0xFFFF before some below. */
function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return ranked(x) - ranked(y);
  }
  return a.length - b.length;
}

function ranked(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    if (a[i] !== b[i]) return a[i]! - b[i]!;
  }
  return a.length - b.length;
}

function areEqualLists(a: List, b: Value): boolean {
  if (!(b instanceof List)) {
    if (a.semantics !== undefined) throw new CelError("no such overload");
    return false;
  }
  if (a.semantics !== undefined) return a.semantics.equal(a, b);
  return a.items.length === b.items.length && a.items.every((item, i) => isEqual(item, b.items[i]!));
}

function areEqualMaps(a: MapValue | ObjectValue, b: Value): boolean {
  if (!(b instanceof MapValue || b instanceof ObjectValue)) return false;
  if (a.equals !== undefined) return a.equals(b);
  if (a.size !== b.size) return false;
  for (const key of keysOf(a)) {
    const other = entryAt(b, key);
    if (other === undefined || !isEqual(entryAt(a, key) ?? null, other)) return false;
  }
  return true;
}

function areEqualOptionals(a: Optional, b: Optional): boolean {
  if (a.value === undefined || b.value === undefined) return a.value === b.value;
  return isEqual(a.value, b.value);
}
