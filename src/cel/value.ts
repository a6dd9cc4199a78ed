/**
 * Values of CEL. An `int` is a bigint and a `double` is a number, so that the types remain
 * distinct. Strings, booleans and null are JavaScript's.
 */
import type { CelType } from "./type.ts";

/** Any value. */
export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | Uint
  | List
  | MapValue
  | Timestamp
  | DurationValue
  | Optional
  | TypeValue
  | OpaqueValue;

/** A `uint`. */
export class Uint {
  constructor(readonly value: bigint) {}
}

/**
 * The semantics of a list of a stored object: how it compares and concatenates. Lists that
 * expressions build have none, and compare item by item. A list with semantics can be compared only
 * with lists, its items may be incomparable with some values, and its index must be an `int`.
 */
export interface ListSemantics {
  equal(a: List, b: List): boolean;
  concat(a: List, b: List): List;
}

/** A list. */
export class List {
  constructor(readonly items: readonly Value[], readonly semantics?: ListSemantics) {}
}

/** The concatenation of two lists: `a + b`. */
export class JoinedList extends List {
  constructor(readonly first: List, readonly second: List) {
    super([...first.items, ...second.items]);
  }
}

/** A map: built by an expression, or a lazy view of JSON. */
export abstract class MapValue {
  abstract readonly size: number;
  /**
   * Returns the value of a key, or `undefined` if it is missing. A number also finds the key of
   * another number type with the same value: 1, 1u and 1.0.
   */
  abstract get(key: Value): Value | undefined;
  abstract keys(): Iterable<Value>;
  /** Overrides the comparison of maps. */
  equals?(other: MapValue): boolean;
}

/**
 * A point in time: seconds since 1970, nanoseconds, and the offset east of UTC in seconds in which
 * it was written.
 */
export class Timestamp {
  constructor(readonly seconds: bigint, readonly nanoseconds: number, readonly offset: number = 0) {}
}

/** A duration in nanoseconds. */
export class DurationValue {
  constructor(readonly nanoseconds: bigint) {}
}

/** A CEL optional: a value that may be missing. */
export class Optional {
  static readonly NONE = new Optional(undefined);
  constructor(readonly value: Value | undefined) {}
}

/** A type as a value: `type(1)`. */
export class TypeValue {
  constructor(readonly type: CelType) {}
}

/** A value of a library type. */
export abstract class OpaqueValue {
  abstract readonly type: CelType;
  /** The Go type, which some messages contain. */
  readonly goType: string = "ref.Val";
  /** The size for the cost of comparisons, if cel-go defines one. */
  readonly size?: number;
  /** @throws {CelError} If a value of another type cannot be compared with it. */
  abstract equals(other: Value): boolean;
}

/**
 * Thrown if an expression cannot be evaluated. The message is cel-go's, such as `no such key: a`.
 */
export class CelError extends Error {
  override name = "CelError";
  /** The cost until the failure, in cel-go's units. Set if the evaluation of a program failed. */
  cost?: number;
}
