/** Values of more than one type. */
import { type Keywords, lowered } from "./keywords.ts";
import { seal } from "./_seal.ts";
import type { JsonSchema } from "./json_schema.ts";
import type { Schema, WhenDefaulted } from "./schema.ts";

/** Options of {@linkcode intOrString}. */
export interface IntOrStringOptions<Default = number | string> extends Keywords<number | string> {
  /** What the server fills in where nothing stands: an integer or a string. */
  readonly default?: Default;
  /** A regular expression of RE2 that the value must match where it is a string. */
  readonly pattern?: string;
  /** Least length where it is a string, in code points. */
  readonly minLength?: number;
  /** Greatest length where it is a string, in code points. Rules on a value without one cost much. */
  readonly maxLength?: number;
  /** Least value where it is an integer. */
  readonly minimum?: number;
  /** Greatest value where it is an integer. */
  readonly maximum?: number;
}

/** Options of {@linkcode anything}. */
export interface AnythingOptions<Type, Default = unknown> extends Keywords {
  /** `"object"` where it must be one. @default {anything} */
  readonly type?: Type;
  /** What the server fills in where nothing stands. */
  readonly default?: Default;
}

/**
 * An integer or a string, such as a port's number or name, or `25%`.
 *
 * @param options Keywords of JSON Schema.
 * @throws {TypeError} If the default is neither.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * assert.equal(s.intOrString({ default: "25%" })["x-kubernetes-int-or-string"], true);
 * ```
 */
export function intOrString<const Default extends number | string = never>(
  options: IntOrStringOptions<Default> = {},
): Schema<number | string, number | string, WhenDefaulted<Default>> {
  return seal("make an int-or-string schema", intOrStringNode("make an int-or-string schema", options));
}

/**
 * What the CRD says of an int-or-string. Tools that do not know the keyword understand the choice of types; it is the one use of `type` in
 * `anyOf` that a structural schema allows, in two places: a user's own `anyOf` pushes it into the first of `allOf`.
 */
export function intOrStringNode(action: string, options: IntOrStringOptions<unknown>): JsonSchema {
  const { anyOf, allOf = [], ...rest } = lowered(action, options);
  const types: JsonSchema = { anyOf: [{ type: "integer" }, { type: "string" }] };
  return {
    ...rest,
    ...(anyOf === undefined ? { ...types, ...(allOf.length > 0 && { allOf }) } : { anyOf, allOf: [types, ...allOf] }),
    "x-kubernetes-int-or-string": true,
  };
}

/**
 * Any JSON, kept as it is: nothing is checked and nothing dropped.
 *
 * @param options Keywords of JSON Schema. `type: "object"` takes only objects.
 * @throws {TypeError} If the default is not of the type.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * assert.deepEqual(s.anything(), { "x-kubernetes-preserve-unknown-fields": true });
 * ```
 */
export function anything<const Type extends "object" = never, Default = never>(
  options: AnythingOptions<Type, Default> = {},
): Schema<Anything<Type>, Anything<Type>, WhenDefaulted<Default>> {
  return seal("make an anything schema", {
    ...lowered("make an anything schema", options),
    "x-kubernetes-preserve-unknown-fields": true,
  });
}

/** Any JSON, or any object. */
export type Anything<Type> = [Type] extends [never] ? unknown : { readonly [key: string]: unknown };
