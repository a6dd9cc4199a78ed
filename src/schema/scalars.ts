/** Strings, numbers and booleans. Options are the keywords of JSON Schema. */
import type { Annotations } from "./annotations.ts";
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
export interface StringOptions extends Annotations<string> {
  readonly format?: StringFormat;
  /** Least length, in code points. */
  readonly minLength?: number;
  /** Greatest length, in code points. */
  readonly maxLength?: number;
  /** A regular expression of RE2 that matches anywhere in the text, unless it is anchored. */
  readonly pattern?: string;
}

/** Options of {@linkcode integer} and {@linkcode number}. */
export interface NumberOptions<Format extends string> extends Annotations<number> {
  readonly format?: Format;
  readonly minimum?: number;
  readonly maximum?: number;
  /** Whether `minimum` itself is not allowed. */
  readonly exclusiveMinimum?: boolean;
  /** Whether `maximum` itself is not allowed. */
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
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
  options: StringOptions & { readonly enum?: readonly Value[]; readonly default?: Default } = {},
): Schema<Value, Value, WhenDefaulted<Default>> {
  return seal("a string", { type: "string", ...options });
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
  options: NumberOptions<"int32" | "int64"> & { readonly enum?: readonly Value[]; readonly default?: Default } = {},
): Schema<Value, Value, WhenDefaulted<Default>> {
  return seal("an integer", { type: "integer", ...options });
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
  options: NumberOptions<"float" | "double"> & { readonly enum?: readonly Value[]; readonly default?: Default } = {},
): Schema<Value, Value, WhenDefaulted<Default>> {
  return seal("a number", { type: "number", ...options });
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
  options: Annotations<boolean> & { readonly default?: Default } = {},
): Schema<boolean, boolean, WhenDefaulted<Default>> {
  return seal("a boolean", { type: "boolean", ...options });
}
