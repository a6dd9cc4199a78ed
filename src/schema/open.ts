/** Values of more than one type. */
import { type Keywords, toJsonSchema } from "./keywords.ts";
import { seal } from "./_seal.ts";
import type { JsonSchema } from "./json_schema.ts";
import type { Schema, WhenDefaulted } from "./schema.ts";

/** Options of {@linkcode intOrString}. */
export interface IntOrStringOptions<Default = number | string> extends Keywords<number | string> {
  /** The value that the server sets if it is omitted: an integer or a string. */
  readonly default?: Default;
  /**
   * An RE2 regular expression for strings. It matches anywhere in a string unless it is anchored.
   */
  readonly pattern?: string;
  /** Minimum length of a string, in code points. */
  readonly minLength?: number;
  /**
   * Maximum length of a string, in code points. Without it, the estimated cost of CEL rules on the
   * value is high.
   */
  readonly maxLength?: number;
  /** Minimum of an integer. */
  readonly minimum?: number;
  /** Maximum of an integer. */
  readonly maximum?: number;
}

/** Options of {@linkcode anything}. */
export interface AnythingOptions<Type, Default = unknown> extends Keywords {
  /** `"object"` to allow only objects. @default {any JSON} */
  readonly type?: Type;
  /** The value that the server sets if it is omitted. */
  readonly default?: Default;
}

/**
 * Builds the schema of an integer or a string, such as a port number or name, or `25%`.
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
  return seal("define an int-or-string schema", intOrStringNode("define an int-or-string schema", options));
}

/**
 * Returns the keywords of an int-or-string. Tools that do not know the Kubernetes keyword
 * understand the `anyOf` of types. It is the only use of `type` in `anyOf` that a structural schema
 * allows, in two places: if the user has an `anyOf`, it moves to the first entry of `allOf`.
 */
export function intOrStringNode(action: string, options: IntOrStringOptions<unknown>): JsonSchema {
  const { anyOf, allOf = [], ...rest } = toJsonSchema(action, options);
  const types: JsonSchema = { anyOf: [{ type: "integer" }, { type: "string" }] };
  return {
    ...rest,
    ...(anyOf === undefined ? { ...types, ...(allOf.length > 0 && { allOf }) } : { anyOf, allOf: [types, ...allOf] }),
    "x-kubernetes-int-or-string": true,
  };
}

/**
 * Builds the schema of any JSON value. It is neither validated nor pruned.
 *
 * @param options Keywords of JSON Schema. `type: "object"` allows only objects.
 * @throws {TypeError} If the default has the wrong type.
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
  return seal("define an anything schema", {
    ...toJsonSchema("define an anything schema", options),
    "x-kubernetes-preserve-unknown-fields": true,
  });
}

/** Any JSON value, or any object. */
export type Anything<Type> = [Type] extends [never] ? unknown : { readonly [key: string]: unknown };
