/** Strings, numbers and booleans. Options are keywords of JSON Schema. */
import { type Keywords, toJsonSchema } from "./keywords.ts";
import { seal } from "./_seal.ts";
import type { Schema, WhenDefaulted } from "./schema.ts";

/** String formats that an API server validates. It accepts and ignores others. */
export type StringFormat =
  | "bsonobjectid"
  | "byte"
  | "cidr"
  | "creditcard"
  | "date"
  | "date-time"
  | "duration"
  | "email"
  | "hexcolor"
  | "hostname"
  | "ipv4"
  | "ipv6"
  | "isbn"
  | "isbn10"
  | "isbn13"
  | "k8s-long-name"
  | "k8s-short-name"
  | "mac"
  | "password"
  | "rgbcolor"
  | "ssn"
  | "uri"
  | "uuid"
  | "uuid3"
  | "uuid4"
  | "uuid5";

/** Options of {@linkcode string}. */
export interface StringOptions<Value = string, Default = string> extends Keywords<string> {
  /** The value that the server sets if it is omitted. It must match the schema. */
  readonly default?: Default;
  /** The allowed values, without duplicates. @default {all strings} */
  readonly enum?: readonly Value[];
  /**
   * The format. Other strings are rejected, except for `password`, which only affects the display.
   */
  readonly format?: StringFormat;
  /** Minimum length, in code points. */
  readonly minLength?: number;
  /** Maximum length, in code points. */
  readonly maxLength?: number;
  /** An RE2 regular expression. It matches anywhere in the string unless it is anchored. */
  readonly pattern?: string;
}

/** Options of {@linkcode integer} and {@linkcode number}. */
export interface NumberOptions<Format = string, Value = number, Default = number> extends Keywords<number> {
  /** The value that the server sets if it is omitted. It must match the schema. */
  readonly default?: Default;
  /** The allowed values, without duplicates. @default {all numbers} */
  readonly enum?: readonly Value[];
  /** The number of bits. */
  readonly format?: Format;
  /** The minimum. */
  readonly minimum?: number;
  /** The maximum. */
  readonly maximum?: number;
  /** Whether `minimum` itself is rejected. */
  readonly exclusiveMinimum?: boolean;
  /** Whether `maximum` itself is rejected. */
  readonly exclusiveMaximum?: boolean;
  /** A number above zero. Valid values are multiples of it. */
  readonly multipleOf?: number;
}

/** Options of {@linkcode boolean}. */
export interface BooleanOptions<Default = boolean> extends Keywords<boolean> {
  /** The value that the server sets if it is omitted. It must match the schema. */
  readonly default?: Default;
}

/**
 * Builds the schema of a string.
 *
 * @param options Keywords of JSON Schema.
 * @throws {TypeError} If the default does not match the schema.
 * @throws {RangeError} If the bounds allow no length.
 * @throws {SyntaxError} If the pattern is not a valid RE2 expression.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * assert.deepEqual(s.string({ format: "hostname" }), { type: "string", format: "hostname" });
 * ```
 */
export function string<const Value extends string = string, const Default extends Value = never>(
  options: StringOptions<Value, Default> = {},
): Schema<Value, Value, WhenDefaulted<Default>> {
  return seal("define a string schema", { type: "string", ...toJsonSchema("define a string schema", options) });
}

/**
 * Builds the schema of an integer. JavaScript represents integers exactly up to 2^53.
 *
 * @param options Keywords of JSON Schema.
 * @throws {TypeError} If the default does not match the schema.
 * @throws {RangeError} If the bounds allow no number.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * assert.deepEqual(s.integer({ minimum: 0, default: 1 }), {
 *   type: "integer",
 *   minimum: 0,
 *   default: 1,
 * });
 * ```
 */
export function integer<const Value extends number = number, const Default extends Value = never>(
  options: NumberOptions<"int32" | "int64", Value, Default> = {},
): Schema<Value, Value, WhenDefaulted<Default>> {
  return seal("define an integer schema", { type: "integer", ...toJsonSchema("define an integer schema", options) });
}

/**
 * Builds the schema of a number.
 *
 * @param options Keywords of JSON Schema.
 * @throws {TypeError} If the default does not match the schema.
 * @throws {RangeError} If the bounds allow no number.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * assert.deepEqual(s.number({ maximum: 1 }), { type: "number", maximum: 1 });
 * ```
 */
export function number<const Value extends number = number, const Default extends Value = never>(
  options: NumberOptions<"float" | "double", Value, Default> = {},
): Schema<Value, Value, WhenDefaulted<Default>> {
  return seal("define a number schema", { type: "number", ...toJsonSchema("define a number schema", options) });
}

/**
 * Builds the schema of a boolean.
 *
 * @param options Keywords of JSON Schema.
 * @throws {TypeError} If the default is not a boolean.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * assert.deepEqual(s.boolean({ default: false }), { type: "boolean", default: false });
 * ```
 */
export function boolean<Default extends boolean = never>(
  options: BooleanOptions<Default> = {},
): Schema<boolean, boolean, WhenDefaulted<Default>> {
  return seal("define a boolean schema", { type: "boolean", ...toJsonSchema("define a boolean schema", options) });
}
