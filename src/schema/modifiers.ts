/** What is no keyword is a function around a schema. */
import { isObject } from "../base/json.ts";
import { lowered } from "./keywords.ts";
import type { Keywords } from "./keywords.ts";
import { checkSchema } from "./_parts.ts";
import { IMMUTABLE } from "./_presence.ts";
import { marksOf, seal } from "./_seal.ts";
import type { JsonSchema, ValidationRule } from "./json_schema.ts";
import type { Presence, Schema, WhenDefaulted } from "./schema.ts";

/**
 * A property that may be left out, and is then not there when read.
 *
 * @param schema What it is where it is there. It has no default: what has one is never missing when read.
 * @throws {TypeError} If the schema has a default.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * assert.equal(s.object({ memory: s.optional(s.string()) }).required, undefined);
 * ```
 */
export function optional<Read, Written, When extends Presence>(
  schema: WithoutDefault<Read, Written, When>,
): Schema<Read, Written, "optional"> {
  checkSchema("make a schema optional", "it", schema);
  if (schema.default !== undefined) {
    throw new TypeError(
      "Cannot make a schema optional: it has a default, so that it is never missing: take one of the two away",
    );
  }
  return seal("make a schema optional", schema, { ...marksOf(schema), optional: true });
}

/** A schema that has no default; of one that has, the sentence that the compiler shows. */
type WithoutDefault<Read, Written, When extends Presence> = "defaulted" extends When
  ? "what has a default is never missing: take the default or s.optional away"
  : "optional" extends When ? "it is optional already: take one s.optional away"
  : Schema<Read, Written, When>;

/**
 * A value that may also be null.
 *
 * @param schema What it is where it is not null.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * assert.deepEqual(s.nullable(s.string()), { type: "string", nullable: true });
 * ```
 */
export function nullable<Read, Written, When extends Presence>(
  schema: Schema<Read, Written, When>,
): Schema<Read | null, Written | null, When> {
  checkSchema("make a schema nullable", "it", schema);
  return seal("make a schema nullable", { ...schema, nullable: true }, marksOf(schema));
}

/** Options of {@linkcode immutable}. */
export interface ImmutableOptions {
  /**
   * Whether an object that was made without the property may get it later, once: what an optional property needs that comes into a kind of
   * which there are objects already. @default {false}
   */
  readonly mayBeAdded?: boolean;
}

/**
 * A value that does not change once its object is made. An optional property is neither taken away nor put in later, as with Kubernetes'
 * own kinds (`+k8s:immutable`), unless `mayBeAdded`. A rule sees a value only where it was there before and still is: where an object around
 * it may be left out, the value can go with that, so make the outer one immutable. Items of lists can be immutable only in lists of type
 * `"map"`: elsewhere no item is known to be the one that was there.
 *
 * @param schema What it is.
 * @param options Additional options.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * assert.deepEqual(s.immutable(s.string()), {
 *   type: "string",
 *   "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "field is immutable" }],
 * });
 * ```
 */
export function immutable<S extends Schema>(schema: S, options: ImmutableOptions = {}): S {
  checkSchema("make a schema immutable", "it", schema);
  const immutable = options.mayBeAdded === true ? "once set" : "as created";
  const rule: ValidationRule = { rule: "self == oldSelf", message: IMMUTABLE };
  const rules = (schema["x-kubernetes-validations"] ?? []).filter((each) => each.rule !== rule.rule);
  return seal("make a schema immutable", { ...schema, "x-kubernetes-validations": [...rules, rule] }, {
    ...marksOf(schema),
    immutable,
  }) as Schema as S;
}

/** Options of {@linkcode withKeywords}. */
export interface WithOptions<Written, Default = Written> extends Keywords<Written> {
  /** What the server fills in where nothing stands; it must be a value of the schema. */
  readonly default?: Default;
}

/**
 * A schema with further keywords. Rules are added to those that are there, other keywords take the place of the old ones; `deprecated` stays
 * below the description that is there.
 *
 * @param schema The schema; it stays as it is.
 * @param options The keywords. With a `default`, an optional property is no longer optional: it is never missing when read.
 * @throws {TypeError} If the default is not of the schema.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * const port = s.integer({ minimum: 1, maximum: 65535 });
 *
 * assert.deepEqual(s.with(port, { description: "Where it listens.", default: 8080 }), {
 *   type: "integer",
 *   minimum: 1,
 *   maximum: 65535,
 *   description: "Where it listens.",
 *   default: 8080,
 * });
 * ```
 */
export function withKeywords<Read, Written, When extends Presence, const Default extends Written = never>(
  schema: Schema<Read, Written, When>,
  options: WithOptions<NoInfer<Written>, Default>,
): Schema<Read, Written, WhenDefaulted<Default, When>> {
  checkSchema("add keywords to a schema", "it", schema);
  if (!isObject(options)) throw new TypeError("Cannot add keywords to a schema: options must be an object");
  const { description } = schema;
  const { "x-kubernetes-validations": rules = [], allOf = [], ...added } = lowered("add keywords to a schema", {
    ...(description !== undefined && { description }),
    ...options,
  });
  const node: JsonSchema = {
    ...schema,
    ...added,
    ...(allOf.length > 0 && { allOf: [...schema.allOf ?? [], ...allOf] }),
    ...(rules.length > 0 && { "x-kubernetes-validations": [...schema["x-kubernetes-validations"] ?? [], ...rules] }),
  };
  const marks = marksOf(schema);
  return seal("add keywords to a schema", node, node.default === undefined ? marks : { ...marks, optional: false });
}
