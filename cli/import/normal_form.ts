/** Normal forms of schemas. Schemas with the same meaning have the same normal form. */
import { equal, isObject } from "../internal/mod.gen.ts";
import type { JsonSchema } from "@op/sdk/resource";

/**
 * Returns whether two schemas have the same meaning: whether their {@linkcode normalForm} is equal.
 *
 * @param a The first schema.
 * @param b The second schema.
 */
export function sameSchema(a: JsonSchema, b: JsonSchema): boolean {
  return equal(normalForm(a), normalForm(b));
}

const normalForms = new WeakMap<JsonSchema, JsonSchema>();

/**
 * Returns the normal form of a schema:
 *
 * - `required` is sorted, and does not list properties with a default: a server applies defaults
 *   before it checks required properties.
 * - Empty lists and maps are omitted, because a server does not return them, and so are keywords
 *   with their default `false`.
 * - Required names that are not in `properties` move into `allOf`.
 * - "At most one of these properties" is written as `not` with pairs of properties. Some schemas
 *   write it as `oneOf` with "none of them" as one choice.
 *
 * @param schema The schema, which is not changed.
 */
export function normalForm(schema: JsonSchema): JsonSchema {
  const cached = normalForms.get(schema);
  if (cached !== undefined) return cached;
  const form: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(moveUnknownRequired(rewriteAtMostOne(schema)))) {
    const normal = normalKeyword(schema, key, value);
    if (normal !== undefined) form[key] = normal;
  }
  normalForms.set(schema, form);
  return form;
}

function normalKeyword(schema: JsonSchema, key: string, value: unknown): unknown {
  switch (key) {
    case "properties": {
      const entries = Object.entries(value as Record<string, JsonSchema>).map((
        [name, child],
      ) => [name, normalForm(child)]);
      return entries.length === 0 ? undefined : Object.fromEntries(entries);
    }
    case "required": {
      const names = (value as string[]).filter((name) => schema.properties?.[name]?.default === undefined);
      return names.length === 0 ? undefined : [...new Set(names)].sort();
    }
    case "items":
    case "not":
      return normalForm(value as JsonSchema);
    case "additionalProperties":
      return isObject(value) ? normalForm(value) : value;
    case "allOf":
    case "anyOf":
    case "oneOf":
      return (value as JsonSchema[]).length === 0 ? undefined : (value as JsonSchema[]).map(normalForm);
    case "x-kubernetes-validations":
      return (value as unknown[]).length === 0 ? undefined : value;
    case "nullable":
    case "uniqueItems":
    case "exclusiveMinimum":
    case "exclusiveMaximum":
    case "x-kubernetes-embedded-resource":
    case "x-kubernetes-int-or-string":
    case "x-kubernetes-preserve-unknown-fields":
      return value === false ? undefined : value;
    case "description":
    case "title":
    case "format":
      return value === "" ? undefined : value;
    default:
      return value;
  }
}

/** Moves required names without a property into `allOf`. */
function moveUnknownRequired(schema: JsonSchema): JsonSchema {
  const { type, properties = {}, required = [], allOf = [] } = schema;
  const unknown = required.filter((name) => !Object.hasOwn(properties, name));
  if (type === undefined || unknown.length === 0) return schema;
  const existing = required.filter((name) => Object.hasOwn(properties, name));
  return { ...schema, required: existing, allOf: [...allOf, { required: unknown }] };
}

/** Rewrites a `oneOf` that means "at most one of these" as `not`. */
function rewriteAtMostOne(schema: JsonSchema): JsonSchema {
  const { oneOf, not, ...rest } = schema;
  const names = oneOf === undefined || not !== undefined ? undefined : atMostOneIn(oneOf);
  if (names === undefined) return schema;
  const pairs = names.flatMap((name, i) => names.slice(i + 1).map((other) => ({ required: [name, other] })));
  return { ...rest, not: pairs.length === 1 ? pairs[0]! : { anyOf: pairs } };
}

/**
 * Returns the names of the properties of which a `oneOf` allows at most one: one choice forbids all
 * of them, and each other choice requires one of them. Generators for protocol buffers write it
 * like this. Returns `undefined` for any other `oneOf`.
 */
function atMostOneIn(choices: readonly JsonSchema[]): string[] | undefined {
  const none = choices.filter((choice) => choice.not !== undefined);
  const names = requiredEach(choices.filter((choice) => choice.not === undefined));
  const [only] = none;
  if (none.length !== 1 || names === undefined || names.length < 2 || Object.keys(only!).length !== 1) return undefined;
  const { anyOf, ...others } = only!.not!;
  const absent = anyOf === undefined || Object.keys(others).length > 0 ? undefined : requiredEach(anyOf);
  return absent !== undefined && equal([...absent].sort(), [...names].sort()) ? names : undefined;
}

/**
 * Returns the names of the properties that the choices require, if each choice requires exactly one
 * property, all of them differ, and no choice has another keyword. Returns `undefined` otherwise.
 */
export function requiredEach(choices: readonly JsonSchema[]): string[] | undefined {
  const names = choices.map(({ required = [], ...rest }) =>
    required.length === 1 && Object.keys(rest).length === 0 ? required[0]! : undefined
  );
  return names.includes(undefined) || new Set(names).size !== names.length ? undefined : names as string[];
}
