/** What Kubernetes writes as text, or as text and numbers: amounts, spans and points of time, bytes. */
import { type Keywords, lowered } from "./keywords.ts";
import { intOrStringNode } from "./open.ts";
import { seal } from "./_seal.ts";
import type { Schema, WhenDefaulted } from "./schema.ts";

/** Options of {@linkcode duration}, {@linkcode dateTime} and {@linkcode bytes}. */
export interface TextOptions<Default = string> extends Keywords<string> {
  /** What the server fills in where nothing stands; it must be a value of the schema. */
  readonly default?: Default;
  /** Least length of the text, in code points. */
  readonly minLength?: number;
  /** Greatest length of the text, in code points. Rules on a text without one cost much. */
  readonly maxLength?: number;
}

/** Options of {@linkcode quantity}. */
export interface QuantityOptions<Default = number | string> extends Keywords<number | string> {
  /** What the server fills in where nothing stands: an amount. */
  readonly default?: Default;
  /** Least length where it is a text, in code points. */
  readonly minLength?: number;
  /** Greatest length where it is a text, in code points. Rules on an amount without one cost much. */
  readonly maxLength?: number;
}

// What Kubernetes' own generators write for resource.Quantity (k8s.io/apimachinery/pkg/api/resource); tools know a quantity by it.
const QUANTITY =
  "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$";

/**
 * An amount, such as `500m` CPUs or `2Gi` of memory: a text or a whole number, as Kubernetes' own generators describe `resource.Quantity`.
 *
 * @param options Keywords of JSON Schema.
 * @throws {TypeError} If the default is no quantity.
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
  return seal("make a quantity schema", { ...intOrStringNode("make a quantity schema", options), pattern: QUANTITY });
}

/**
 * A span of time as Go writes it: `1h30m`, `500ms`. CEL rules see a duration; `duration()` makes of it what `requeue` takes.
 *
 * @param options Keywords of JSON Schema.
 * @throws {TypeError} If the default is no duration.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * assert.deepEqual(s.duration({ default: "10m" }), { type: "string", format: "duration", default: "10m" });
 * ```
 */
export function duration<const Default extends string = never>(
  options: TextOptions<Default> = {},
): Schema<string, string, WhenDefaulted<Default>> {
  return seal("make a duration schema", {
    ...lowered("make a duration schema", options),
    type: "string",
    format: "duration",
  });
}

/**
 * A point of time by RFC 3339: `2026-01-31T12:00:00Z`. CEL rules see a timestamp.
 *
 * @param options Keywords of JSON Schema.
 * @throws {TypeError} If the default is no date and time.
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
  return seal("make a date-time schema", {
    ...lowered("make a date-time schema", options),
    type: "string",
    format: "date-time",
  });
}

/**
 * Bytes, in base64. CEL rules see bytes.
 *
 * @param options Keywords of JSON Schema. Lengths are those of the text.
 * @throws {TypeError} If the default is not in base64.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * assert.deepEqual(s.bytes({ maxLength: 1024 }), { type: "string", format: "byte", maxLength: 1024 });
 * ```
 */
export function bytes<const Default extends string = never>(
  options: TextOptions<Default> = {},
): Schema<string, string, WhenDefaulted<Default>> {
  return seal("make a bytes schema", { ...lowered("make a bytes schema", options), type: "string", format: "byte" });
}
