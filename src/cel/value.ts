/**
 * Values of CEL. An `int` is a bigint and a `double` a number, so that both keep what they are; strings, booleans and null are JavaScript's.
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
 * How a list of a stored object compares and adds up; one that an expression made is compared and added item by item. Besides, a list with this is compared
 * with lists only, has items that cannot be compared with all values, and is indexed by `int` alone.
 */
export interface ListSemantics {
  equal(a: List, b: List): boolean;
  concat(a: List, b: List): List;
}

/** A list. */
export class List {
  constructor(readonly items: readonly Value[], readonly semantics?: ListSemantics) {}
}

/** Two lists as one: `a + b`. */
export class JoinedList extends List {
  constructor(readonly first: List, readonly second: List) {
    super([...first.items, ...second.items]);
  }
}

/** A map: made by an expression, or lazily out of JSON. */
export abstract class MapValue {
  abstract readonly size: number;
  /** The value at a key, where 1, 1u and 1.0 are the same key; undefined where there is none. */
  abstract get(key: Value): Value | undefined;
  abstract keys(): Iterable<Value>;
  /** Where the map compares in a way of its own. */
  equals?(other: MapValue): boolean;
}

/** A point in time: whole seconds since 1970 and the nanoseconds after; and how many seconds east of UTC it was written in, which its text shows. */
export class Timestamp {
  constructor(readonly seconds: bigint, readonly nanoseconds: number, readonly offset: number = 0) {}
}

/** A span of time, in nanoseconds. */
export class DurationValue {
  constructor(readonly nanoseconds: bigint) {}
}

/** A value that may be missing. */
export class Optional {
  static readonly NONE = new Optional(undefined);
  constructor(readonly value: Value | undefined) {}
}

/** A type as a value: `type(1)`. */
export class TypeValue {
  constructor(readonly type: CelType) {}
}

/** A value of a library's own type. */
export abstract class OpaqueValue {
  abstract readonly type: CelType;
  /** What Go calls the type, which some messages tell. */
  readonly goType: string = "ref.Val";
  /** What `size` is to what a comparison costs, where cel-go knows one of such values. */
  readonly size?: number;
  /** @throws {CelError} Where a value of another type cannot be compared with it. */
  abstract equals(other: Value): boolean;
}

/** An expression could not be evaluated. The message is cel-go's, such as `no such key: a`. */
export class CelError extends Error {
  override name = "CelError";
  /** What was spent until then, in cel-go's units, where the evaluation of a program ended so. */
  cost?: number;
}
