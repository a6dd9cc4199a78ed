/** Objects with known properties. */
import { isObject } from "../base/json.ts";
import type { Annotations } from "./annotations.ts";
import { checkSchema } from "./_parts.ts";
import { isOptional, seal } from "./_seal.ts";
import type { Flatten, InferSchema, InputSchema, PresenceOf, Schema, WhenDefaulted } from "./schema.ts";

/** Names and schemas of an object's properties. */
export interface Properties {
  readonly [name: string]: Schema;
}

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

/**
 * The schema of an object with known properties. They can be taken over into another object: `{ ...point.properties, z: s.number() }`
 * keeps which of them are optional.
 */
export interface ObjectSchema<P extends Properties, When extends "required" | "defaulted" = "required">
  extends Schema<ReadObject<P>, WrittenObject<P>, When> {
  readonly type: "object";
  readonly properties: P;
}

/** Options of {@linkcode object}. */
export interface ObjectOptions<P extends Properties> extends Annotations<WrittenObject<P>> {
  readonly minProperties?: number;
  readonly maxProperties?: number;
  /** Who may own what under server-side apply: each property by itself, or all of it as a whole. @default {"granular"} */
  readonly mapType?: "atomic" | "granular";
}

/**
 * An object with known properties. Those that are neither optional nor have a default are required. Others are not kept by the server.
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
export function object<P extends Properties, Default extends WrittenObject<P> = never>(
  properties: P,
  options: ObjectOptions<P> & { readonly default?: Default } = {},
): ObjectSchema<P, WhenDefaulted<Default>> {
  const names = checkedNames(properties);
  const required = names.filter((name) => !isOptional(properties[name]!) && properties[name]!.default === undefined);
  const { mapType, ...keywords } = options;
  return seal("an object", {
    type: "object",
    // A server answers an empty map as no map: what is sent should come back equal.
    ...(names.length > 0 && { properties }),
    ...(required.length > 0 && { required }),
    ...keywords,
    ...(mapType && { "x-kubernetes-map-type": mapType }),
  }) as ObjectSchema<P, WhenDefaulted<Default>>;
}

function checkedNames(properties: Properties): string[] {
  const names = Object.keys(properties ?? {});
  if (!isObject(properties) || Object.getPrototypeOf(properties) !== Object.prototype || names.includes("__proto__")) {
    throw new TypeError('Cannot make an object schema: properties must be a plain object, and "__proto__" is no name');
  }
  for (const name of names) {
    if (name === "") throw new TypeError("Cannot make an object schema: the name of a property is empty");
    checkSchema("an object", `property "${name}"`, properties[name]!);
  }
  return names;
}
