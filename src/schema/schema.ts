/**
 * Schemas as values: plain, frozen JSON Schema at run time, with the TypeScript types of the values
 * that it describes.
 */
import type { JsonSchema } from "./json_schema.ts";

/** The key of a schema's types. It has no value at run time. */
declare const types: unique symbol;

/**
 * The presence of a property: `"required"` always, `"optional"` may be missing, `"defaulted"`
 * always when read (the server sets it) but not when written.
 */
export type Presence = "required" | "optional" | "defaulted";

/**
 * A JSON Schema with the types of its values. `JSON.stringify` returns its form in the
 * CustomResourceDefinition.
 *
 * @typeParam Read The value as read, with defaults.
 * @typeParam Written The value as written, without the properties that have a default.
 * @typeParam When The presence of a property of this schema.
 */
export interface Schema<out Read = unknown, out Written = unknown, out When extends Presence = Presence>
  extends JsonSchema {
  /** The types of its values. The property exists only for the compiler. */
  readonly [types]: SchemaTypes<Read, Written, When>;
}

/** The types of a schema. */
export interface SchemaTypes<out Read, out Written, out When> {
  /** The value as read, with defaults. */
  readonly read: Read;
  /** The value as written. */
  readonly written: Written;
  /** The presence of a property of this schema. */
  readonly when: When;
}

/** A schema that is not optional. For an optional one, the type is the compiler's error message. */
export type AlwaysThere<Read, Written, When extends Presence, Why extends string> = "optional" extends When ? Why
  : Schema<Read, Written, When>;

/**
 * A schema of an object that is not optional. For other schemas, the type is the compiler's error
 * message.
 */
export type ObjectSchema<Read, Written, When extends Presence> = "optional" extends When
  ? "the schema is optional: apply s.optional last"
  : [Read] extends [readonly unknown[]] ? NoObject
  : [Read] extends [object] ? Schema<Read, Written, When>
  : NoObject;

type NoObject = "only an object has properties";

/**
 * The type of a schema's value as read, with defaults.
 *
 * @example Usage
 * ```ts
 * import { type InferSchema, s } from "@op/sdk";
 *
 * const port = s.object({ number: s.integer(), protocol: s.string({ default: "TCP" }) });
 *
 * ({ number: 80, protocol: "TCP" }) satisfies InferSchema<typeof port>;
 * ```
 */
export type InferSchema<S extends Schema> = S[typeof types]["read"];

/**
 * The type of a schema's value as written. Properties that are optional or have a default may be
 * omitted.
 *
 * @example Usage
 * ```ts
 * import { type InputSchema, s } from "@op/sdk";
 *
 * const port = s.object({ number: s.integer(), protocol: s.string({ default: "TCP" }) });
 *
 * ({ number: 80 }) satisfies InputSchema<typeof port>;
 * ```
 */
export type InputSchema<S extends Schema> = S[typeof types]["written"];

/** Names and schemas of an object's properties. */
export interface Properties {
  /** A property's schema, which also declares its presence. */
  readonly [name: string]: Schema;
}

/** The presence of a property of this schema. */
export type PresenceOf<S extends Schema> = S[typeof types]["when"];

/**
 * The {@linkcode Presence} of a schema with a default of the type `Default`; `never` means no
 * default.
 */
export type WhenDefaulted<Default, Otherwise extends Presence = "required"> = [Default] extends [never] ? Otherwise
  : "defaulted";

/** Flattens an intersection into one object type, for short compiler messages. */
export type Flatten<T> = { [Key in keyof T]: T[Key] } & unknown;
