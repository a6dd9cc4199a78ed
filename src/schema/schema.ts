/** A schema as a value: plain, frozen JSON Schema at run time, with the TypeScript types of what it describes behind it. */
import type { JsonSchema } from "./json_schema.ts";

/** Holds a schema's types. There is no value behind it. */
declare const types: unique symbol;

/**
 * Whether a property must be there: `"required"` always, `"optional"` never, `"defaulted"` when read (the server fills it) but not
 * when written.
 */
export type Presence = "required" | "optional" | "defaulted";

/**
 * A JSON Schema that knows the types of what it describes. `JSON.stringify` of it is what stands in the CustomResourceDefinition.
 *
 * @typeParam Read The value as read: defaults filled.
 * @typeParam Written The value as written: what has a default may be left out.
 * @typeParam When Whether a property of this schema must be there.
 */
export interface Schema<out Read = unknown, out Written = unknown, out When extends Presence = Presence>
  extends JsonSchema {
  /** The types of what it describes: for the compiler alone, nothing stands there. */
  readonly [types]: SchemaTypes<Read, Written, When>;
}

/** The types behind a schema. */
export interface SchemaTypes<out Read, out Written, out When> {
  /** The value as read: defaults filled. */
  readonly read: Read;
  /** The value as written. */
  readonly written: Written;
  /** Whether a property must be there. */
  readonly when: When;
}

/** A schema that is not optional; of one that is, the sentence that the compiler shows. */
export type AlwaysThere<Read, Written, When extends Presence, Why extends string> = "optional" extends When ? Why
  : Schema<Read, Written, When>;

/** A schema of an object that is not optional; of any other, the sentence that the compiler shows. */
export type ObjectSchema<Read, Written, When extends Presence> = "optional" extends When
  ? "change the object first, then put s.optional around it"
  : [Read] extends [readonly unknown[]] ? NoObject
  : [Read] extends [object] ? Schema<Read, Written, When>
  : NoObject;

type NoObject = "only an object has properties";

/**
 * The type of a schema's value as read: defaults filled.
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
 * The type of a schema's value as written: what is optional or has a default may be left out.
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
  /** A property's schema, which says too whether it must be there. */
  readonly [name: string]: Schema;
}

/** Whether a property of this schema must be there. */
export type PresenceOf<S extends Schema> = S[typeof types]["when"];

/** {@linkcode Presence} of a schema whose default is of the type `Default`; `never` when it has none. */
export type WhenDefaulted<Default, Otherwise extends Presence = "required"> = [Default] extends [never] ? Otherwise
  : "defaulted";

/** One object type out of an intersection, for short messages of the compiler. */
export type Flatten<T> = { [Key in keyof T]: T[Key] } & unknown;
