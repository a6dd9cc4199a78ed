/**
 * Types of CEL expressions in the checker (https://github.com/google/cel-spec, doc/langdef.md,
 * "Gradual Type Checking").
 */

import type { Range } from "./cost.ts";

/** A type. Types are compared by value. */
export type CelType =
  | SimpleType
  | { readonly kind: "list"; readonly items: CelType }
  | { readonly kind: "map"; readonly key: CelType; readonly value: CelType }
  | { readonly kind: "optional"; readonly of: CelType }
  /**
   * The type of a type, such as that of `int` in `type(1) == int`; without `of`, the type of all
   * types.
   */
  | { readonly kind: "type"; readonly of?: CelType }
  /** A type parameter of a declaration. A letter stands for one type within a call. */
  | { readonly kind: "parameter"; readonly name: string }
  | OpaqueType
  | ObjectType;

/**
 * A type without parts. `dyn` is compatible with all types and is checked at run time. `error` is
 * the type of an erroneous part; it is compatible with all types, so that each error is reported
 * once.
 */
export interface SimpleType {
  readonly kind:
    | "bool"
    | "int"
    | "uint"
    | "double"
    | "string"
    | "bytes"
    | "null"
    | "timestamp"
    | "duration"
    | "dyn"
    | "error";
}

/**
 * A library type, such as `kubernetes.Quantity`. Only the functions of the library access its
 * contents.
 */
export interface OpaqueType {
  readonly kind: "opaque";
  readonly name: string;
  /** Estimates the cost of `==` from the sizes of its operands. @default 1 */
  readonly estimateEquality?: (a: Range | undefined, b: Range | undefined) => Range;
}

/** An object with known fields. */
export interface ObjectType {
  readonly kind: "object";
  /** Unique: types with the same name are the same type. Messages show it. */
  readonly name: string;
  /**
   * Returns the type of a field by its name in expressions, or `undefined` if it does not exist.
   */
  field(name: string): CelType | undefined;
}

export const BOOL: SimpleType = { kind: "bool" };
export const INT: SimpleType = { kind: "int" };
export const UINT: SimpleType = { kind: "uint" };
export const DOUBLE: SimpleType = { kind: "double" };
export const STRING: SimpleType = { kind: "string" };
export const BYTES: SimpleType = { kind: "bytes" };
export const NULL: SimpleType = { kind: "null" };
export const TIMESTAMP: SimpleType = { kind: "timestamp" };
export const DURATION: SimpleType = { kind: "duration" };
export const DYN: SimpleType = { kind: "dyn" };
export const ERROR: SimpleType = { kind: "error" };

/** Returns the type of a list. */
export function listOf(items: CelType): CelType {
  return { kind: "list", items };
}

/** Returns the type of a map. */
export function mapOf(key: CelType, value: CelType): CelType {
  return { kind: "map", key, value };
}

/** Returns the type of an optional value. */
export function optionalOf(of: CelType): CelType {
  return { kind: "optional", of };
}

/** Returns a type parameter. */
export function parameter(name: string): CelType {
  return { kind: "parameter", name };
}

/** Returns a library type. */
export function opaque(name: string): OpaqueType {
  return { kind: "opaque", name };
}

/** Returns the type of a type. */
export function typeOf(of: CelType): CelType {
  return { kind: "type", of };
}

// Run-time names of types that differ from their kind.
const RUNTIME_NAMES: { readonly [kind: string]: string } = {
  null: "null_type",
  timestamp: "google.protobuf.Timestamp",
  duration: "google.protobuf.Duration",
  optional: "optional_type",
};

/**
 * Returns the name of a type without its parts, as `string(type(value))` does:
 * `google.protobuf.Timestamp`, `list`.
 */
export function typeName(type: CelType): string {
  if (type.kind === "opaque" || type.kind === "object" || type.kind === "parameter") return type.name;
  return RUNTIME_NAMES[type.kind] ?? type.kind;
}

/** Formats a type as the checker's messages do: `map(string, list(int))`. */
export function formatType(type: CelType): string {
  switch (type.kind) {
    case "list":
      return `list(${formatType(type.items)})`;
    case "map":
      return `map(${formatType(type.key)}, ${formatType(type.value)})`;
    case "optional":
      return `optional_type(${formatType(type.of)})`;
    case "type":
      return type.of === undefined ? "type" : `type(${formatType(type.of)})`;
    case "error":
      return "!error!";
    case "parameter":
    case "opaque":
    case "object":
      return type.name;
    default:
      return type.kind;
  }
}

/** Returns the parts of a type. */
export function partsOf(type: CelType): readonly CelType[] {
  switch (type.kind) {
    case "list":
      return [type.items];
    case "map":
      return [type.key, type.value];
    case "optional":
      return [type.of];
    case "type":
      return type.of === undefined ? [] : [type.of];
    default:
      return [];
  }
}

/** Returns the type with each part replaced. */
export function withParts(type: CelType, change: (type: CelType) => CelType): CelType {
  switch (type.kind) {
    case "list":
      return listOf(change(type.items));
    case "map":
      return mapOf(change(type.key), change(type.value));
    case "optional":
      return optionalOf(change(type.of));
    case "type":
      return type.of === undefined ? type : { kind: "type", of: change(type.of) };
    default:
      return type;
  }
}

/** Returns whether two types are the same. */
export function isSameType(a: CelType, b: CelType): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || typeName(a) !== typeName(b)) return false;
  return haveSameParts(a, b, isSameType);
}

/** Returns whether two types are the same if all type parameters are considered equal. */
export function isEquivalentType(a: CelType, b: CelType): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind) return false;
  if (a.kind === "parameter") return true;
  return typeName(a) === typeName(b) && haveSameParts(a, b, isEquivalentType);
}

function haveSameParts(a: CelType, b: CelType, same: (a: CelType, b: CelType) => boolean): boolean {
  const ofA = partsOf(a);
  const ofB = partsOf(b);
  return ofA.length === ofB.length && ofA.every((part, i) => same(part, ofB[i]!));
}
