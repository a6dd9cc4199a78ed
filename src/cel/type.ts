/** Types of CEL expressions, as the checker knows them (https://github.com/google/cel-spec, doc/langdef.md, "Gradual Type Checking"). */

/** A type. Two types are the same when they are equal as values. */
export type CelType =
  | SimpleType
  | { readonly kind: "list"; readonly items: CelType }
  | { readonly kind: "map"; readonly key: CelType; readonly value: CelType }
  | { readonly kind: "optional"; readonly of: CelType }
  /** The type of a type, such as of `int` in `type(1) == int`. */
  | { readonly kind: "type"; readonly of: CelType }
  /** A type parameter of a function's declaration: each letter stands for one type in one call. */
  | { readonly kind: "parameter"; readonly name: string }
  | OpaqueType
  | ObjectType;

/** Types without parts. `dyn` goes with all of them at check time, and is found out at run time. */
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
    | "dyn";
}

/** A type of a library, such as `kubernetes.Quantity`: only the library's functions look into it. */
export interface OpaqueType {
  readonly kind: "opaque";
  readonly name: string;
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
