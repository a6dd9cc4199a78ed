/** Objects with declared properties. */
import { isObject } from "../base/json.ts";
import { type Keywords, toJsonSchema } from "./keywords.ts";
import { checkSchema } from "./_builder_arguments.ts";
import { presenceRules } from "./_presence.ts";
import { type Marks, marksOf, seal, type Sealed } from "./_seal.ts";
import type { JsonSchema } from "./json_schema.ts";
import type { Flatten, InferSchema, InputSchema, PresenceOf, Properties, Schema, WhenDefaulted } from "./schema.ts";

/** An object as read: properties with a default are present. */
export type ReadObject<P extends Properties> = Flatten<
  & { readonly [Name in keyof P as PresenceOf<P[Name]> extends "optional" ? never : Name]: InferSchema<P[Name]> }
  & { readonly [Name in keyof P as PresenceOf<P[Name]> extends "optional" ? Name : never]?: InferSchema<P[Name]> }
>;

/**
 * An object as written: properties that are optional or have a default may be omitted. A property
 * that is `undefined` is not sent.
 */
export type WrittenObject<P extends Properties> = Flatten<
  & { readonly [Name in keyof P as PresenceOf<P[Name]> extends "required" ? Name : never]: InputSchema<P[Name]> }
  & {
    readonly [Name in keyof P as PresenceOf<P[Name]> extends "required" ? never : Name]?:
      | InputSchema<P[Name]>
      | undefined;
  }
>;

/** An object that retains undeclared properties. */
export type Open<T, Keep> = [Keep] extends [never] ? T : T & { readonly [key: string]: unknown };

/** Options of {@linkcode object}. */
export interface ObjectOptions<Written = unknown, Default = Written, Keep = boolean> extends Keywords<Written> {
  /**
   * The value that the server sets if it is omitted, before the defaults of its properties: `{}` if
   * each of them has one.
   */
  readonly default?: Default;
  /** Minimum number of properties. */
  readonly minProperties?: number;
  /** Maximum number of properties. */
  readonly maxProperties?: number;
  /**
   * The ownership of fields under server-side apply: each property separately, or the object as a
   * whole. @default {"granular"}
   */
  readonly mapType?: "atomic" | "granular";
  /** Whether the server retains undeclared properties. @default {false} */
  readonly preserveUnknownFields?: Keep;
}

/**
 * Builds the schema of an object. Properties that are neither optional nor have a default are
 * required. The server drops undeclared properties unless `preserveUnknownFields` is set.
 *
 * @param properties Names and schemas.
 * @param options Keywords of JSON Schema, and the map type of Kubernetes. A `default` must contain
 * every required property.
 * @throws {TypeError} If a name is empty or `__proto__`, or the default does not match the schema.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * assert.deepEqual(
 *   s.object({
 *     image: s.string(),
 *     replicas: s.integer({ default: 1 }),
 *     memory: s.optional(s.string()),
 *   }),
 *   {
 *     type: "object",
 *     properties: {
 *       image: { type: "string" },
 *       replicas: { type: "integer", default: 1 },
 *       memory: { type: "string" },
 *     },
 *     required: ["image"],
 *   },
 * );
 * ```
 */
export function object<P extends Properties, Default extends WrittenObject<P> = never, Keep extends true = never>(
  properties: P,
  options: ObjectOptions<WrittenObject<NoInfer<P>>, Default, Keep> = {},
): Schema<Open<ReadObject<P>, Keep>, Open<WrittenObject<P>, Keep>, WhenDefaulted<Default>> {
  return objectOf("define an object schema", properties, toJsonSchema("define an object schema", options));
}

/**
 * Builds an object schema from its properties. Their marks determine which ones are required and
 * which rules they add.
 *
 * @param action The action in messages: `define an object schema`.
 * @param properties Names and schemas.
 * @param keywords Other keywords of the object. `required` is ignored.
 * @param marks The marks of this object.
 */
export function objectOf(action: string, properties: Properties, keywords: JsonSchema, marks: Marks = {}): Sealed {
  const names = checkedNames(action, properties);
  const required = names.filter((name) => !mayBeMissing(properties[name]!));
  const rules = [...presenceRules(action, properties), ...keywords["x-kubernetes-validations"] ?? []];
  const { required: _, properties: __, "x-kubernetes-validations": ___, ...rest } = keywords;
  return seal(action, {
    ...rest,
    type: "object",
    // A server drops an empty map, and the schema must be equal to what the server returns.
    ...(names.length > 0 && { properties }),
    ...(required.length > 0 && { required }),
    ...(rules.length > 0 && { "x-kubernetes-validations": rules }),
  }, marks);
}

function mayBeMissing(property: JsonSchema): boolean {
  return marksOf(property).optional === true || property.default !== undefined;
}

function checkedNames(action: string, properties: Properties): string[] {
  const names = Object.keys(properties ?? {});
  if (!isObject(properties) || Object.getPrototypeOf(properties) !== Object.prototype || names.includes("__proto__")) {
    throw new TypeError(
      `Cannot ${action}: properties must be a plain object, without a property named "__proto__"`,
    );
  }
  for (const name of names) {
    if (name === "") throw new TypeError(`Cannot ${action}: a property name is empty`);
    checkSchema(action, `property "${name}"`, properties[name]!);
  }
  return names;
}
