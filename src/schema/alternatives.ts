/** Objects with properties that exclude or require each other. */
import { celNameOf } from "./_presence.ts";
import { marksOf, seal, type Sealed } from "./_seal.ts";
import { checkObject, propertiesOf } from "./_builder_arguments.ts";
import type { JsonSchema, ValidationRule } from "./json_schema.ts";
import type { Flatten, ObjectSchema, Presence, Schema } from "./schema.ts";

/** Names of the properties that may be missing when read. */
export type OptionalName<Read> = {
  [Name in keyof Read]-?: Record<never, never> extends Pick<Read, Name> ? Name : never;
}[keyof Read];

/** An object with exactly one of the properties `Names`. */
export type ExactlyOne<T, Names extends keyof T> = T extends unknown
  ? { [Name in Names]-?: Flatten<Omitting<T, Names> & Present<T, Name> & Absent<Exclude<Names, Name>>> }[Names]
  : never;

/** An object with at most one of the properties `Names`. */
export type AtMostOne<T, Names extends keyof T> = T extends unknown
  ? { [Name in Names]-?: Flatten<Omitting<T, Exclude<Names, Name>> & Absent<Exclude<Names, Name>>> }[Names]
  : never;

/** An object with at least one of the properties `Names`. */
export type AtLeastOne<T, Names extends keyof T> = T extends unknown
  ? { [Name in Names]-?: Flatten<Omitting<T, Name> & Present<T, Name>> }[Names]
  : never;

type Omitting<T, Names> = { [Name in keyof T as Name extends Names ? never : Name]: T[Name] };
type Present<T, Name extends keyof T> = { readonly [Key in Name]-?: Exclude<T[Key], undefined> };
type Absent<Name extends PropertyKey> = { readonly [Key in Name]?: undefined };

/** Options of {@linkcode exactlyOneOf}, {@linkcode atMostOneOf} and {@linkcode atLeastOneOf}. */
export interface AlternativeOptions {
  /**
   * The form in the CRD: a CEL rule, whose message names the properties, or pure JSON Schema for
   * tools without CEL and for names that CEL cannot spell. @default {"rule"}
   */
  readonly as?: "rule" | "schema";
}

/**
 * Requires exactly one of several properties.
 *
 * @param object The object.
 * @param names At least two optional properties of it.
 * @param options Additional options.
 * @throws {TypeError} If a name is not an optional property of the object, or is listed twice.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { type InputSchema, s } from "@op/sdk";
 *
 * const source = s.exactlyOneOf(
 *   s.object({ git: s.optional(s.string()), image: s.optional(s.string()) }),
 *   ["git", "image"],
 * );
 *
 * ({ git: "https://example.com/site.git" }) satisfies InputSchema<typeof source>;
 * assert.equal(
 *   source["x-kubernetes-validations"]?.[0]?.message,
 *   "exactly one of the fields in [git image] must be set",
 * );
 * ```
 */
export function exactlyOneOf<
  Read,
  Written,
  When extends Presence,
  const Name extends OptionalName<Read> & keyof Written & string,
>(
  object: ObjectSchema<Read, Written, When>,
  names: readonly Name[],
  options: AlternativeOptions = {},
): Schema<ExactlyOne<Read, Name & keyof Read>, ExactlyOne<Written, Name>, When> {
  return withConstraint("exactly one", object, names, options);
}

/**
 * Allows at most one of several properties.
 *
 * @param object The object.
 * @param names At least two optional properties of it.
 * @param options Additional options.
 * @throws {TypeError} If a name is not an optional property of the object, or is listed twice.
 *
 * @example Usage
 * ```ts
 * import { type InputSchema, s } from "@op/sdk";
 *
 * const limits = s.atMostOneOf(
 *   s.object({ count: s.optional(s.integer()), share: s.optional(s.string()) }),
 *   ["count", "share"],
 * );
 *
 * ({}) satisfies InputSchema<typeof limits>;
 * ({ share: "25%" }) satisfies InputSchema<typeof limits>;
 * ```
 */
export function atMostOneOf<
  Read,
  Written,
  When extends Presence,
  const Name extends OptionalName<Read> & keyof Written & string,
>(
  object: ObjectSchema<Read, Written, When>,
  names: readonly Name[],
  options: AlternativeOptions = {},
): Schema<AtMostOne<Read, Name & keyof Read>, AtMostOne<Written, Name>, When> {
  return withConstraint("at most one", object, names, options);
}

/**
 * Requires at least one of several properties.
 *
 * @param object The object.
 * @param names At least two optional properties of it.
 * @param options Additional options.
 * @throws {TypeError} If a name is not an optional property of the object, or is listed twice.
 *
 * @example Usage
 * ```ts
 * import { type InputSchema, s } from "@op/sdk";
 *
 * const peer = s.atLeastOneOf(
 *   s.object({ v4: s.optional(s.string()), v6: s.optional(s.string()) }),
 *   ["v4", "v6"],
 * );
 *
 * ({ v4: "192.0.2.1", v6: "2001:db8::1" }) satisfies InputSchema<typeof peer>;
 * ```
 */
export function atLeastOneOf<
  Read,
  Written,
  When extends Presence,
  const Name extends OptionalName<Read> & keyof Written & string,
>(
  object: ObjectSchema<Read, Written, When>,
  names: readonly Name[],
  options: AlternativeOptions = {},
): Schema<AtLeastOne<Read, Name & keyof Read>, AtLeastOne<Written, Name>, When> {
  return withConstraint("at least one", object, names, options);
}

type Kind = "exactly one" | "at most one" | "at least one";

function withConstraint(kind: Kind, object: unknown, names: readonly string[], options: AlternativeOptions): Sealed {
  const action = `require ${kind} of an object's properties`;
  checkObject(action, object);
  checkNames(action, object, names);
  const { as = "rule" } = options;
  if (as !== "rule" && as !== "schema") {
    throw new TypeError(`Cannot ${action}: "as" must be "rule" or "schema", got ${JSON.stringify(as)}`);
  }
  const node = as === "rule" ? withRule(object, ruleOf(action, kind, names)) : withSchema(object, kind, names);
  return seal(action, node, marksOf(object));
}

function checkNames(action: string, object: JsonSchema, names: readonly string[]): void {
  const known = propertiesOf(object);
  if (!Array.isArray(names) || names.length < 2) {
    throw new TypeError(`Cannot ${action}: at least two properties are required`);
  }
  for (const [i, name] of names.entries()) {
    if (names.indexOf(name) !== i) throw new TypeError(`Cannot ${action}: "${name}" is listed twice`);
    const property = Object.hasOwn(known, name) ? known[name] : undefined;
    if (property === undefined) throw new TypeError(`Cannot ${action}: "${name}" is not a property of the object`);
    if (marksOf(property).optional === true) continue;
    throw new TypeError(`Cannot ${action}: "${name}" is always present. Use s.optional() and no default`);
  }
}

/**
 * Returns the rule that controller-gen generates for the same constraint, so that tools recognize
 * it.
 */
function ruleOf(action: string, kind: Kind, names: readonly string[]): ValidationRule {
  const presence = names.map((name) => `has(self.${celNameOf(action, name)})`).join(",");
  const size = { "exactly one": "== 1", "at most one": "<= 1", "at least one": ">= 1" }[kind];
  const verb = kind === "at most one" ? "may" : "must";
  return {
    rule: `[${presence}].filter(x,x==true).size() ${size}`,
    message: `${kind} of the fields in [${names.join(" ")}] ${verb} be set`,
  };
}

function withRule(object: JsonSchema, rule: ValidationRule): JsonSchema {
  return { ...object, "x-kubernetes-validations": [...object["x-kubernetes-validations"] ?? [], rule] };
}

function withSchema(object: JsonSchema, kind: Kind, names: readonly string[]): JsonSchema {
  const each = names.map((name): JsonSchema => ({ required: [name] }));
  const pairs = names.flatMap((name, i) =>
    names.slice(i + 1).map((other): JsonSchema => ({ required: [name, other] }))
  );
  const constraint: JsonSchema = {
    "exactly one": { oneOf: each },
    "at most one": { not: pairs.length === 1 ? pairs[0]! : { anyOf: pairs } },
    "at least one": { anyOf: each },
  }[kind];
  const isUsed = Object.keys(constraint).some((key) => Object.hasOwn(object, key));
  return isUsed ? { ...object, allOf: [...object.allOf ?? [], constraint] } : { ...object, ...constraint };
}
