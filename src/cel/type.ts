/** Types of CEL expressions, as the checker knows them (https://github.com/google/cel-spec, doc/langdef.md, "Gradual Type Checking"). */

import type { Range } from "./cost.ts";

/** A type. Two types are the same when they are equal as values. */
export type CelType =
  | SimpleType
  | { readonly kind: "list"; readonly items: CelType }
  | { readonly kind: "map"; readonly key: CelType; readonly value: CelType }
  | { readonly kind: "optional"; readonly of: CelType }
  /** The type of a type, such as of `int` in `type(1) == int`; of all types where there is no `of`. */
  | { readonly kind: "type"; readonly of?: CelType }
  /** A type parameter of a function's declaration: each letter stands for one type in one call. */
  | { readonly kind: "parameter"; readonly name: string }
  | OpaqueType
  | ObjectType;

/**
 * Types without parts. `dyn` goes with all of them at check time, and is found out at run time; `error` is of what did not check, and goes with all,
 * so that one mistake is told once.
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

/** A type of a library, such as `kubernetes.Quantity`: only the library's functions look into it. */
export interface OpaqueType {
  readonly kind: "opaque";
  readonly name: string;
  /** What `==` of two such values may cost, by what is known of their sizes. @default 1 */
  readonly estimateEquality?: (a: Range | undefined, b: Range | undefined) => Range;
}

/** An object with known fields. */
export interface ObjectType {
  readonly kind: "object";
  /** Unique: types of one name are one type. Shown in messages. */
  readonly name: string;
  /** The type of a field as expressions name it, or nothing where there is no such field. */
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

/** A list of items of one type. */
export function listOf(items: CelType): CelType {
  return { kind: "list", items };
}

/** A map from keys of one type to values of one type. */
export function mapOf(key: CelType, value: CelType): CelType {
  return { kind: "map", key, value };
}

/** A value that may be missing. */
export function optionalOf(of: CelType): CelType {
  return { kind: "optional", of };
}

/** A type parameter of a declaration. */
export function parameter(name: string): CelType {
  return { kind: "parameter", name };
}

/** A type of a library. */
export function opaque(name: string): OpaqueType {
  return { kind: "opaque", name };
}

/** The type of a type. */
export function typeOf(of: CelType): CelType {
  return { kind: "type", of };
}

// What types are called at run time where that is not their kind.
const RUNTIME_NAMES: { readonly [kind: string]: string } = {
  null: "null_type",
  timestamp: "google.protobuf.Timestamp",
  duration: "google.protobuf.Duration",
  optional: "optional_type",
};

/** The name of a type without its parts, as `string(type(value))` has it: `google.protobuf.Timestamp`, `list`. */
export function typeName(type: CelType): string {
  if (type.kind === "opaque" || type.kind === "object" || type.kind === "parameter") return type.name;
  return RUNTIME_NAMES[type.kind] ?? type.kind;
}

/** A type as messages of the checker have it: `map(string, list(int))`. */
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

/** The types that a type is made of. */
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

/** A type made of other parts. */
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

/** Whether two types are one. */
export function isSameType(a: CelType, b: CelType): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || typeName(a) !== typeName(b)) return false;
  return haveSameParts(a, b, isSameType);
}

/** Whether two types are one where type parameters count as equal. */
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
