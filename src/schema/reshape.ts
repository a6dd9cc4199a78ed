/** Derives objects from other objects: with fewer, more or only optional properties. */
import { nearest } from "../base/nearest.ts";
import { checkObject, propertiesOf } from "./_builder_arguments.ts";
import { presenceRules } from "./_presence.ts";
import { marksOf, type Sealed, withMarks } from "./_seal.ts";
import { celName } from "./_cel_name.ts";
import type { JsonSchema } from "./json_schema.ts";
import { objectOf, type ReadObject, type WrittenObject } from "./object.ts";
import type { Flatten, ObjectSchema, Presence, Properties, Schema } from "./schema.ts";

/** An object type without some properties. */
export type Without<T, Names> = { [Name in keyof T as Name extends Names ? never : Name]: T[Name] };

/** Names of the properties that are required when the object is written. */
type RequiredName<Written> = {
  [Name in keyof Written]-?: Record<never, never> extends Pick<Written, Name> ? never : Name;
}[keyof Written];

/** An object as read with all properties optional, except those with a default. */
export type PartialRead<Read, Written> = Flatten<
  & Without<Read, RequiredName<Written>>
  & { [Name in keyof Read as Name extends RequiredName<Written> ? Name : never]?: Read[Name] }
>;

/** An object as written with all properties optional. */
export type PartialWritten<Written> = { [Name in keyof Written]?: Written[Name] | undefined };

/**
 * Returns an object schema with only some properties. Required ones remain required.
 *
 * @param object The object: from {@linkcode object}, or a Kubernetes type such as `PodSpec`.
 * @param names The properties to keep.
 * @throws {TypeError} If a name is not a property, or a rule or the default of the object needs an
 * omitted property.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * const user = s.object({ name: s.string(), email: s.string(), phone: s.optional(s.string()) });
 *
 * assert.deepEqual(s.pick(user, ["name", "phone"]).required, ["name"]);
 * ```
 */
export function pick<
  Read,
  Written,
  When extends Presence,
  const Name extends keyof Read & keyof Written & string,
>(
  object: ObjectSchema<Read, Written, When>,
  names: readonly Name[],
): Schema<Flatten<Pick<Read, Name>>, Flatten<Pick<Written, Name>>, When> {
  checkObject(ACTIONS.pick, object);
  const properties = checkNames("pick", object, names);
  const selected = Object.entries(properties).filter(([name]) => (names as readonly string[]).includes(name));
  return rebuild("pick", object, Object.fromEntries(selected));
}

/**
 * Returns an object schema without some properties.
 *
 * @param object The object: from {@linkcode object}, or a Kubernetes type such as `PodSpec`.
 * @param names The properties to omit.
 * @throws {TypeError} If a name is not a property, or a rule or the default of the object needs an
 * omitted property.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * const user = s.object({ name: s.string(), email: s.string(), phone: s.optional(s.string()) });
 *
 * assert.deepEqual(Object.keys(s.omit(user, ["email"]).properties!), ["name", "phone"]);
 * ```
 */
export function omit<
  Read,
  Written,
  When extends Presence,
  const Name extends keyof Read & keyof Written & string,
>(
  object: ObjectSchema<Read, Written, When>,
  names: readonly Name[],
): Schema<Flatten<Without<Read, Name>>, Flatten<Without<Written, Name>>, When> {
  checkObject(ACTIONS.omit, object);
  const properties = checkNames("omit", object, names);
  const selected = Object.entries(properties).filter(([name]) => !(names as readonly string[]).includes(name));
  return rebuild("omit", object, Object.fromEntries(selected));
}

/**
 * Returns an object schema with additional properties. A property of the same name is replaced.
 *
 * @param object The object: from {@linkcode object}, or a Kubernetes type such as `PodSpec`.
 * @param properties Names and schemas.
 * @throws {TypeError} If the object's default lacks a required property, or a name is empty or
 * `__proto__`.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * const user = s.object({ name: s.string() });
 *
 * assert.deepEqual(s.extend(user, { email: s.string() }).required, ["name", "email"]);
 * ```
 */
export function extend<
  Read,
  Written,
  When extends Presence,
  P extends Properties,
>(
  object: ObjectSchema<Read, Written, When>,
  properties: P,
): Schema<
  Flatten<Without<Read, keyof P> & ReadObject<P>>,
  Flatten<Without<Written, keyof P> & WrittenObject<P>>,
  When
> {
  checkObject(ACTIONS.extend, object);
  // Property descriptors keep "__proto__" as a name, so that the validation rejects it.
  const all = Object.defineProperties({ ...propertiesOf(object) }, Object.getOwnPropertyDescriptors(properties ?? {}));
  return rebuild("extend", object, all);
}

/**
 * Returns an object schema with all properties optional. Properties with a default retain it, and
 * are present when read.
 *
 * @param object The object: from {@linkcode object}, or a Kubernetes type such as `PodSpec`.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * assert.deepEqual(s.partial(s.object({ name: s.string(), age: s.integer() })), {
 *   type: "object",
 *   properties: { name: { type: "string" }, age: { type: "integer" } },
 * });
 * ```
 */
export function partial<Read, Written, When extends Presence>(
  object: ObjectSchema<Read, Written, When>,
): Schema<PartialRead<Read, Written>, Flatten<PartialWritten<Written>>, When> {
  checkObject(ACTIONS.partial, object);
  const properties = Object.entries(propertiesOf(object)).map(([name, property]) =>
    [
      name,
      property.default === undefined ? withMarks(property, { ...marksOf(property), optional: true }) : property,
    ] as const
  );
  return rebuild("partial", object, Object.fromEntries(properties));
}

type Operation = "pick" | "omit" | "extend" | "partial";

const ACTIONS: { readonly [D in Operation]: string } = {
  pick: "pick properties of an object",
  omit: "omit properties of an object",
  extend: "extend an object",
  partial: "make an object partial",
};

function checkNames(operation: "pick" | "omit", object: JsonSchema, names: readonly string[]): Properties {
  const properties = propertiesOf(object);
  if (!Array.isArray(names)) throw new TypeError(`Cannot ${operation} properties: the names must be a list`);
  for (const [i, name] of names.entries()) {
    if (names.indexOf(name) !== i) throw new TypeError(`Cannot ${operation} property "${name}": it is listed twice`);
    if (!Object.hasOwn(properties, name)) {
      const names = Object.keys(properties);
      const similar = nearest(name, names);
      const hint = similar === undefined ? `It has ${quoteNames(names)}` : `Did you mean "${similar}"?`;
      throw new TypeError(`Cannot ${operation} property "${name}": the object has no such property. ${hint}`);
    }
  }
  return properties;
}

function quoteNames(names: readonly string[]): string {
  return names.length === 0 ? "none at all" : names.map((name) => `"${name}"`).join(", ");
}

function rebuild(operation: Operation, object: JsonSchema, properties: Properties): Sealed {
  const before = propertiesOf(object);
  const omitted = Object.keys(before).filter((name) => !Object.hasOwn(properties, name));
  // Rules that are derived from properties are derived again from the new properties.
  const derived = new Set(presenceRules(ACTIONS[operation], before).map(({ rule }) => rule));
  const rules = (object["x-kubernetes-validations"] ?? []).filter(({ rule }) => !derived.has(rule));
  const { properties: _, required: __, ...rest } = object;
  const keywords: JsonSchema = { ...rest, "x-kubernetes-validations": rules };
  for (const name of omitted) checkNotNeeded(operation, name, keywords);
  return objectOf(ACTIONS[operation], properties, keywords, marksOf(object));
}

/**
 * Throws if another keyword of the object refers to an omitted property, because its meaning would
 * be unclear.
 */
function checkNotNeeded(operation: Operation, name: string, object: JsonSchema): void {
  const access = new RegExp(String.raw`\b(?:self|oldSelf)\s*\.\s*\??\s*${celName(name) ?? "(?!)"}(?![A-Za-z0-9_])`);
  const rule = object["x-kubernetes-validations"]?.find(({ rule, messageExpression = "", fieldPath = "" }) =>
    access.test(rule) || access.test(messageExpression) || fieldPath.startsWith(`.${name}`)
  );
  const user = rule !== undefined
    ? `the rule "${rule.rule}"`
    : combinationsUse(object, name)
    ? "one of allOf, anyOf, oneOf and not"
    : undefined;
  if (user === undefined) return;
  throw new TypeError(
    `Cannot remove property "${name}": ${user} of the object uses it. Call s.${operation}() before you add rules or alternatives`,
  );
}

function combinationsUse(node: JsonSchema, name: string): boolean {
  const parts = [...node.allOf ?? [], ...node.anyOf ?? [], ...node.oneOf ?? [], ...node.not ? [node.not] : []];
  return parts.some((part) =>
    part.required?.includes(name) === true || Object.hasOwn(part.properties ?? {}, name) || combinationsUse(part, name)
  );
}
