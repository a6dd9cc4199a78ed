/**
 * Values that Kubernetes encodes as strings, or as strings and numbers: quantities, durations,
 * timestamps, bytes.
 */
import { type Keywords, toJsonSchema } from "./keywords.ts";
import { intOrStringNode } from "./open.ts";
import { seal } from "./_seal.ts";
import type { Schema, WhenDefaulted } from "./schema.ts";

/** Options of {@linkcode duration}, {@linkcode dateTime} and {@linkcode bytes}. */
export interface TextOptions<Default = string> extends Keywords<string> {
  /** The value that the server sets if it is omitted. It must match the schema. */
  readonly default?: Default;
  /** Minimum length of the string, in code points. */
  readonly minLength?: number;
  /**
   * Maximum length of the string, in code points. Without it, the estimated cost of CEL rules is
   * high.
   */
  readonly maxLength?: number;
}

/** Options of {@linkcode quantity}. */
export interface QuantityOptions<Default = number | string> extends Keywords<number | string> {
  /** The value that the server sets if it is omitted: a quantity. */
  readonly default?: Default;
  /** Minimum length of a string, in code points. */
  readonly minLength?: number;
  /**
   * Maximum length of a string, in code points. Without it, the estimated cost of CEL rules is
   * high.
   */
  readonly maxLength?: number;
}

// The pattern of Kubernetes' own generators for resource.Quantity
// (k8s.io/apimachinery/pkg/api/resource). Tools recognize a quantity by it.
const QUANTITY =
  "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$";

/**
 * Builds the schema of a quantity, such as `500m` CPUs or `2Gi` of memory: a string or an integer,
 * as Kubernetes' own generators describe `resource.Quantity`.
 *
 * @param options Keywords of JSON Schema.
 * @throws {TypeError} If the default is not a quantity.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * assert.equal(s.quantity({ default: "500m" })["x-kubernetes-int-or-string"], true);
 * ```
 */
export function quantity<const Default extends number | string = never>(
  options: QuantityOptions<Default> = {},
): Schema<number | string, number | string, WhenDefaulted<Default>> {
  return seal("define a quantity schema", {
    ...intOrStringNode("define a quantity schema", options),
    pattern: QUANTITY,
  });
}

/**
 * Builds the schema of a duration in Go's format: `1h30m`, `500ms`. CEL rules see a duration.
 * `duration()` converts it for `requeue`.
 *
 * @param options Keywords of JSON Schema.
 * @throws {TypeError} If the default is not a duration.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * assert.deepEqual(s.duration({ default: "10m" }), {
 *   type: "string",
 *   format: "duration",
 *   default: "10m",
 * });
 * ```
 */
export function duration<const Default extends string = never>(
  options: TextOptions<Default> = {},
): Schema<string, string, WhenDefaulted<Default>> {
  return seal("define a duration schema", {
    ...toJsonSchema("define a duration schema", options),
    type: "string",
    format: "duration",
  });
}

/**
 * Builds the schema of a timestamp in RFC 3339: `2026-01-31T12:00:00Z`. CEL rules see a timestamp.
 *
 * @param options Keywords of JSON Schema.
 * @throws {TypeError} If the default is not a timestamp.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * assert.deepEqual(s.dateTime(), { type: "string", format: "date-time" });
 * ```
 */
export function dateTime<const Default extends string = never>(
  options: TextOptions<Default> = {},
): Schema<string, string, WhenDefaulted<Default>> {
  return seal("define a date-time schema", {
    ...toJsonSchema("define a date-time schema", options),
    type: "string",
    format: "date-time",
  });
}

/**
 * Builds the schema of bytes in base64. CEL rules see bytes.
 *
 * @param options Keywords of JSON Schema. Lengths are those of the encoded string.
 * @throws {TypeError} If the default is not valid base64.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * assert.deepEqual(s.bytes({ maxLength: 1024 }), {
 *   type: "string",
 *   format: "byte",
 *   maxLength: 1024,
 * });
 * ```
 */
export function bytes<const Default extends string = never>(
  options: TextOptions<Default> = {},
): Schema<string, string, WhenDefaulted<Default>> {
  return seal("define a bytes schema", {
    ...toJsonSchema("define a bytes schema", options),
    type: "string",
    format: "byte",
  });
}
