/** Equality and order of values (cel-go, common/types). */
import { attempt, Failure } from "./outcome.ts";
import { typeName } from "./type.ts";
import {
  CelError,
  DurationValue,
  JoinedList,
  List,
  MapValue,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from "./value.ts";

/**
 * Returns whether two values are equal. Numbers compare by value across types. Other values of
 * different types are not equal, but values of library types and of stored objects can only be
 * compared with their own type and with null.
 *
 * @throws {CelError} If the values cannot be compared.
 */
export function isEqual(a: Value, b: Value): boolean {
  return a === null || b === null ? a === b : equals(a, b);
}

/**
 * Like {@linkcode isEqual}, but treats null as an ordinary value. cel-go does so inside optionals
 * and in lists of stored objects.
 */
export function equals(a: Value, b: Value): boolean {
  switch (typeof a) {
    case "bigint":
    case "number":
      return isNumber(b) && compareNumbers(a, b) === 0;
    case "string":
    case "boolean":
      return a === b;
  }
  if (a === null) return b === null;
  if (a instanceof Uint) return isNumber(b) && compareNumbers(a, b) === 0;
  if (a instanceof List) return areEqualLists(a, b);
  if (a instanceof MapValue) return areEqualMaps(a, b);
  if (a instanceof Timestamp) {
    return b instanceof Timestamp && a.seconds === b.seconds && a.nanoseconds === b.nanoseconds;
  }
  if (a instanceof DurationValue) return b instanceof DurationValue && a.nanoseconds === b.nanoseconds;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && compareBytes(a, b) === 0;
  if (a instanceof Optional) return b instanceof Optional && areEqualOptionals(a, b);
  if (a instanceof TypeValue) return b instanceof TypeValue && typeName(a.type) === typeName(b.type);
  return a.equals(b);
}

/**
 * Compares two values; the result is negative if `a` is less than `b`.
 *
 * @throws {CelError} If the values have no order.
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

/** Returns whether values of this type have an order. */
export function isOrdered(value: Value): boolean {
  return value !== null && (typeof value !== "object" || value instanceof Uint || value instanceof Uint8Array ||
    value instanceof Timestamp || value instanceof DurationValue);
}

/** Like {@linkcode compare}, but returns 0 for values without an order, such as NaN. */
export function compareIfPossible(a: Value, b: Value): number {
  try {
    return compare(a, b);
  } catch (error) {
    if (error instanceof CelError) return 0;
    throw error;
  }
}

/** Like {@linkcode isEqual}, but returns false for values that cannot be compared. */
export function isKnownEqual(a: Value, b: Value): boolean {
  return resultOrError(() => isEqual(a, b)) === true;
}

/**
 * Returns whether a list contains a value. An item that cannot be compared with the value is
 * skipped, except in a list of a stored object.
 *
 * @throws {CelError} If an item of a stored list cannot be compared.
 */
export function contains(list: List, wanted: Value): boolean {
  if (list instanceof JoinedList) return isAny([list.first, list.second], wanted, contains);
  if (list.semantics === undefined) {
    return list.items.some((item) => resultOrError(() => equals(wanted, item)) === true);
  }
  return isAny(list.items, wanted, equals);
}

/** Like {@linkcode contains}, but returns false if an item cannot be compared. */
export function containsIfKnown(list: List, wanted: Value): boolean {
  return resultOrError(() => contains(list, wanted)) === true;
}

function isAny<T>(parts: readonly T[], wanted: Value, test: (part: T, wanted: Value) => boolean): boolean {
  let failure: CelError | undefined;
  for (let i = 0; i < parts.length; i++) {
    const result = resultOrError(() => test(parts[i]!, wanted));
    if (result === true) return true;
    if (result !== false) failure ??= result;
  }
  if (failure !== undefined) throw failure;
  return false;
}

type Numeric = bigint | number | Uint;

function isNumber(value: Value): value is Numeric {
  return typeof value === "bigint" || typeof value === "number" || value instanceof Uint;
}

/**
 * Returns `undefined` if a value is NaN. JavaScript compares a bigint and a number
 * exactly, where cel-go rounds the integer first.
 */
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

function isWithin(value: number, integer: Numeric): boolean {
  return integer instanceof Uint ? value >= 0 && value <= 2 ** 64 : value >= -(2 ** 63) && value <= 2 ** 63;
}

/**
 * Compares by code points, as UTF-8 does. JavaScript's `<` would order some characters above 0xFFFF
 * differently.
 */
function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return codePointRank(x) - codePointRank(y);
  }
  return a.length - b.length;
}

function codePointRank(unit: number): number {
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

/**
 * Items that cannot be compared count as equal. A concatenated list fails instead if all other
 * items are equal.
 */
function areEqualLists(a: List, b: Value): boolean {
  if (!(b instanceof List)) {
    if (a.semantics !== undefined) throw new CelError("no such overload");
    return false;
  }
  if (a.semantics !== undefined) return a.semantics.equal(a, b);
  if (a.items.length !== b.items.length) return false;
  let failure: CelError | undefined;
  for (let i = 0; i < a.items.length; i++) {
    const result = resultOrError(() => isEqual(a.items[i]!, b.items[i]!));
    if (result === false) return false;
    if (result !== true) failure ??= result;
  }
  if (failure !== undefined && a instanceof JoinedList) throw failure;
  return true;
}

/** Entries that cannot be compared count as equal. */
function areEqualMaps(a: MapValue, b: Value): boolean {
  if (!(b instanceof MapValue)) {
    if (a.equals !== undefined) throw new CelError("no such overload");
    return false;
  }
  if (a.equals !== undefined) return a.equals(b);
  if (a.size !== b.size) return false;
  for (const key of a.keys()) {
    const other = attempt(() => b.get(key));
    if (other === undefined || other instanceof Failure) return false;
    if (resultOrError(() => isEqual(a.get(key) ?? null, other)) === false) return false;
  }
  return true;
}

/** Returns the result of a comparison, or the error that it throws. */
function resultOrError(comparison: () => boolean): boolean | CelError {
  try {
    return comparison();
  } catch (error) {
    if (error instanceof CelError) return error;
    throw error;
  }
}

function areEqualOptionals(a: Optional, b: Optional): boolean {
  if (a.value === undefined || b.value === undefined) return a.value === b.value;
  return equals(a.value, b.value);
}
