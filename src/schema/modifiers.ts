/** Modifiers: functions that return a changed copy of a schema. */
import { isObject } from "../base/json.ts";
import { toJsonSchema } from "./keywords.ts";
import type { Keywords } from "./keywords.ts";
import { checkSchema } from "./_builder_arguments.ts";
import { IMMUTABLE } from "./_presence.ts";
import { marksOf, seal } from "./_seal.ts";
import type { JsonSchema, ValidationRule } from "./json_schema.ts";
import type { Presence, Schema, WhenDefaulted } from "./schema.ts";

/**
 * Makes a property optional: it may be omitted, and is then missing when read.
 *
 * @param schema The schema of the property. It must not have a default: a property with a default
 * is never missing when read.
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
      "Cannot make a schema optional: it has a default, so it is never missing. Remove the default or s.optional()",
    );
  }
  return seal("make a schema optional", schema, { ...marksOf(schema), optional: true });
}

/** A schema without a default. For other schemas, the type is the compiler's error message. */
type WithoutDefault<Read, Written, When extends Presence> = "defaulted" extends When
  ? "a schema with a default is never missing: remove the default or s.optional"
  : "optional" extends When ? "the schema is already optional: remove one s.optional"
  : Schema<Read, Written, When>;

/**
 * Allows null in addition to a value.
 *
 * @param schema The schema of the value.
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
   * Whether the property may be added once to an object that was created without it. Optional
   * properties that are added to an existing kind need this. @default {false}
   */
  readonly mayBeAdded?: boolean;
}

/**
 * Makes a value immutable after its object is created. An optional property can neither be removed
 * nor added later, as in Kubernetes' own kinds (`+k8s:immutable`), unless `mayBeAdded` is set. A
 * rule is evaluated only if both the old and the new object have the value: if the enclosing object
 * is optional, it can be removed together with the value, so make the enclosing object immutable.
 * Items of lists can be immutable only in lists of type `"map"`: in other lists, old and new items
 * cannot be matched.
 *
 * @param schema The schema of the value.
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
  /** The value that the server sets if it is omitted. It must match the schema. */
  readonly default?: Default;
}

/**
 * Returns a schema with additional keywords. Rules are appended; other keywords replace those of
 * the schema. `deprecated` is appended to the description.
 *
 * @param schema The schema; it is not modified.
 * @param options The keywords. A `default` makes an optional property non-optional, because it is
 * never missing when read.
 * @throws {TypeError} If the default does not match the schema.
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
  const { "x-kubernetes-validations": rules = [], allOf = [], ...added } = toJsonSchema("add keywords to a schema", {
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
