/** Strings, numbers and booleans. Options are the keywords of JSON Schema. */
import { type Keywords, lowered } from "./keywords.ts";
import { seal } from "./_seal.ts";
import type { Schema, WhenDefaulted } from "./schema.ts";

/** Formats of strings that an API server checks. Others would be taken and never looked at. */
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
  /** What the server fills in where nothing stands; it must be a value of the schema. */
  readonly default?: Default;
  /** The values that may be, if not any: no two alike. */
  readonly enum?: readonly Value[];
  /** Which texts are meant. What is none of them is refused; `password` says only how it is shown. */
  readonly format?: StringFormat;
  /** Least length, in code points. */
  readonly minLength?: number;
  /** Greatest length, in code points. */
  readonly maxLength?: number;
  /** A regular expression of RE2 that matches anywhere in the text, unless it is anchored. */
  readonly pattern?: string;
}

/** Options of {@linkcode integer} and {@linkcode number}. */
export interface NumberOptions<Format = string, Value = number, Default = number> extends Keywords<number> {
  /** What the server fills in where nothing stands; it must be a value of the schema. */
  readonly default?: Default;
  /** The values that may be, if not any: no two alike. */
  readonly enum?: readonly Value[];
  /** How many bits it has. */
  readonly format?: Format;
  /** The least number that may be. */
  readonly minimum?: number;
  /** The greatest number that may be. */
  readonly maximum?: number;
  /** Whether `minimum` itself is not allowed. */
  readonly exclusiveMinimum?: boolean;
  /** Whether `maximum` itself is not allowed. */
  readonly exclusiveMaximum?: boolean;
  /** A number above zero of which each value is a whole multiple. */
  readonly multipleOf?: number;
}

/** Options of {@linkcode boolean}. */
export interface BooleanOptions<Default = boolean> extends Keywords<boolean> {
  /** What the server fills in where nothing stands; it must be a value of the schema. */
  readonly default?: Default;
}

/**
 * A string.
 *
 * @param options Keywords of JSON Schema.
 * @throws {TypeError} If the default is not of the schema.
 * @throws {RangeError} If the bounds leave no length.
 * @throws {SyntaxError} If the pattern is not one of RE2.
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
  return seal("make a string schema", { type: "string", ...lowered("make a string schema", options) });
}

/**
 * A whole number. JavaScript keeps integers exact up to 2^53.
 *
 * @param options Keywords of JSON Schema.
 * @throws {TypeError} If the default is not of the schema.
 * @throws {RangeError} If the bounds leave no number.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * assert.deepEqual(s.integer({ minimum: 0, default: 1 }), { type: "integer", minimum: 0, default: 1 });
 * ```
 */
export function integer<const Value extends number = number, const Default extends Value = never>(
  options: NumberOptions<"int32" | "int64", Value, Default> = {},
): Schema<Value, Value, WhenDefaulted<Default>> {
  return seal("make an integer schema", { type: "integer", ...lowered("make an integer schema", options) });
}

/**
 * A number, whole or not.
 *
 * @param options Keywords of JSON Schema.
 * @throws {TypeError} If the default is not of the schema.
 * @throws {RangeError} If the bounds leave no number.
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
  return seal("make a number schema", { type: "number", ...lowered("make a number schema", options) });
}

/**
 * True or false.
 *
 * @param options Keywords of JSON Schema.
 * @throws {TypeError} If the default is no boolean.
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
  return seal("make a boolean schema", { type: "boolean", ...lowered("make a boolean schema", options) });
}
