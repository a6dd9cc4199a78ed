/** Values from a fixed list. */
import { type Keywords, toJsonSchema } from "./keywords.ts";
import { seal } from "./_seal.ts";
import type { Schema, WhenDefaulted } from "./schema.ts";

/** Options of {@linkcode enumeration} and {@linkcode literal}. */
export interface ChoiceOptions<Value, Default = Value> extends Keywords<Value> {
  /** The value that the server sets if it is omitted; one of the values. */
  readonly default?: Default;
}

/**
 * Builds the schema of one of several values of the same type.
 *
 * @param values Strings, numbers or booleans: at least one, without duplicates.
 * @param options Keywords of JSON Schema.
 * @throws {TypeError} If the list is empty, has duplicates or mixed types, or does not contain the
 * default.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * assert.deepEqual(s.enum(["small", "large"]), { type: "string", enum: ["small", "large"] });
 * ```
 */
export function enumeration<const Value extends string | number | boolean, const Default extends Value = never>(
  values: readonly Value[],
  options: ChoiceOptions<NoInfer<Value>, Default> = {},
): Schema<Value, Value, WhenDefaulted<Default>> {
  return seal("define an enum schema", {
    ...toJsonSchema("define an enum schema", options),
    type: typeOf(values),
    enum: values,
  });
}

/**
 * Builds the schema of exactly one value.
 *
 * @param value A string, number or boolean.
 * @param options Keywords of JSON Schema.
 * @throws {TypeError} If the default is another value.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * assert.deepEqual(s.literal("v1"), { type: "string", enum: ["v1"] });
 * ```
 */
export function literal<const Value extends string | number | boolean, const Default extends Value = never>(
  value: Value,
  options: ChoiceOptions<NoInfer<Value>, Default> = {},
): Schema<Value, Value, WhenDefaulted<Default>> {
  return seal("define a literal schema", {
    ...toJsonSchema("define a literal schema", options),
    type: typeOf([value]),
    enum: [value],
  });
}

function typeOf(values: readonly (string | number | boolean)[]): "string" | "integer" | "number" | "boolean" {
  const types = new Set(values.map((value) => typeof value));
  if (types.has("string")) return "string";
  if (types.has("boolean")) return "boolean";
  return values.every((value) => Number.isInteger(value)) ? "integer" : "number";
}
