/** Objects with known properties. */
import { isObject } from "../base/json.ts";
import { type Keywords, lowered } from "./keywords.ts";
import { checkSchema } from "./_parts.ts";
import { presenceRules } from "./_presence.ts";
import { type Marks, marksOf, seal, type Sealed } from "./_seal.ts";
import type { JsonSchema } from "./json_schema.ts";
import type { Flatten, InferSchema, InputSchema, PresenceOf, Properties, Schema, WhenDefaulted } from "./schema.ts";

/** An object as read: what has a default is there. */
export type ReadObject<P extends Properties> = Flatten<
  & { readonly [Name in keyof P as PresenceOf<P[Name]> extends "optional" ? never : Name]: InferSchema<P[Name]> }
  & { readonly [Name in keyof P as PresenceOf<P[Name]> extends "optional" ? Name : never]?: InferSchema<P[Name]> }
>;

/** An object as written: what is optional or has a default may be left out. A property that is undefined is not sent. */
export type WrittenObject<P extends Properties> = Flatten<
  & { readonly [Name in keyof P as PresenceOf<P[Name]> extends "required" ? Name : never]: InputSchema<P[Name]> }
  & {
    readonly [Name in keyof P as PresenceOf<P[Name]> extends "required" ? never : Name]?:
      | InputSchema<P[Name]>
      | undefined;
  }
>;

/** An object that keeps properties of which its schema does not know. */
export type Open<T, Keep> = [Keep] extends [never] ? T : T & { readonly [key: string]: unknown };

/** Options of {@linkcode object}. */
export interface ObjectOptions<Written = unknown, Default = Written, Keep = boolean> extends Keywords<Written> {
  /** What the server fills in where nothing stands, then with the defaults of its properties: `{}` where each has one. */
  readonly default?: Default;
  /** Least number of properties that are there. */
  readonly minProperties?: number;
  /** Greatest number of properties that are there. */
  readonly maxProperties?: number;
  /** Who may own what under server-side apply: each property by itself, or all of it as a whole. @default {"granular"} */
  readonly mapType?: "atomic" | "granular";
  /** Whether the server keeps properties that are not listed, whatever they are. @default {false} */
  readonly preserveUnknownFields?: Keep;
}

/**
 * An object with known properties. Those that are neither optional nor have a default are required. Others are not kept by the server,
 * unless `preserveUnknownFields` says so.
 *
 * @param properties Names and schemas.
 * @param options Keywords of JSON Schema, and Kubernetes' kind of map. A `default` must say every property that is required.
 * @throws {TypeError} If a name is empty or `__proto__`, or the default is not of the schema.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * assert.deepEqual(s.object({ image: s.string(), replicas: s.integer({ default: 1 }), memory: s.optional(s.string()) }), {
 *   type: "object",
 *   properties: { image: { type: "string" }, replicas: { type: "integer", default: 1 }, memory: { type: "string" } },
 *   required: ["image"],
 * });
 * ```
 */
export function object<P extends Properties, Default extends WrittenObject<P> = never, Keep extends true = never>(
  properties: P,
  options: ObjectOptions<WrittenObject<NoInfer<P>>, Default, Keep> = {},
): Schema<Open<ReadObject<P>, Keep>, Open<WrittenObject<P>, Keep>, WhenDefaulted<Default>> {
  return objectOf("make an object schema", properties, lowered("make an object schema", options));
}

/**
 * An object out of its properties: which of them are required, and what rules they bring along, follows from what is remembered of each.
 *
 * @param action What is being done, for messages: `make an object schema`.
 * @param properties Names and schemas.
 * @param keywords The object's other keywords. `required` is not looked at.
 * @param marks What objects have to know of this one.
 */
export function objectOf(action: string, properties: Properties, keywords: JsonSchema, marks: Marks = {}): Sealed {
  const names = checkedNames(action, properties);
  const required = names.filter((name) => !mayBeMissing(properties[name]!));
  const rules = [...presenceRules(action, properties), ...keywords["x-kubernetes-validations"] ?? []];
  const { required: _, properties: __, "x-kubernetes-validations": ___, ...rest } = keywords;
  return seal(action, {
    ...rest,
    type: "object",
    // A server answers an empty map as no map: what is sent should come back equal.
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
      `Cannot ${action}: properties must be a plain object, and "__proto__" is no name`,
    );
  }
  for (const name of names) {
    if (name === "") throw new TypeError(`Cannot ${action}: the name of a property is empty`);
    checkSchema(action, `property "${name}"`, properties[name]!);
  }
  return names;
}
