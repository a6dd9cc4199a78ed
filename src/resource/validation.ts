/**
 * Validates and defaults values as an API server does, for tests, webhooks and tools: against a
 * schema, or against a kind for whole objects.
 *
 * It is a separate entry point, because it loads the CEL compiler: an operator that does not import
 * it starts in half the time.
 *
 * @module
 */
import { isObject } from "../base/json.ts";
import { own } from "../base/own.ts";
import type { JsonSchema } from "../schema/json_schema.ts";
import {
  applyDefaults as applySchemaDefaults,
  type FieldError,
  type Flatten,
  type InferSchema,
  prune as pruneValue,
  type Pruned,
  type Schema,
  validate as validateValue,
} from "../schema/mod.ts";
import type { AnyKind, DefinitionVersion, Infer, Kind, KubeObject, ObjectMetaInput } from "./kind.ts";

export { definitionWarnings } from "./warnings.ts";
export type { FieldError, FieldErrorReason, Pruned } from "../schema/mod.ts";

/** Options for {@linkcode validate}. */
export interface ValidationOptions {
  /**
   * The old value. Transition rules are then evaluated, and errors in unchanged parts are ignored,
   * as in an update (KEP-4008, ratcheting). @default {none: the value is new}
   */
  readonly old?: unknown;
  /** The prefix of all paths, such as `spec`. @default {none} */
  readonly path?: string;
}

/** A value with its defaults. For a kind, it is the object before it is sent to a server. */
export type Defaulted<S> = S extends Schema ? InferSchema<S>
  : Flatten<Omit<Infer<S>, "metadata"> & { readonly metadata?: ObjectMetaInput }>;

/**
 * Validates a value as an API server does. Errors have the server's own paths, reasons and
 * messages. As on the server, defaults are set and unknown fields are dropped first. CEL rules are
 * evaluated unless other errors prevent it.
 *
 * @param schema A schema, or a kind from {@linkcode resource}: the value is then a whole object,
 * whose metadata is not validated.
 * @param value The value as written or as read; it is not modified.
 * @param options Additional options.
 * @returns The errors in the order of the schema; empty if the value is valid.
 * @throws {TypeError} If `schema` is a kind without a CustomResourceDefinition, such as a built-in
 * kind.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { resource, s } from "@op/sdk";
 * import { validate } from "@op/sdk/validation";
 *
 * const Website = resource({
 *   group: "demo.example.com",
 *   version: "v1",
 *   kind: "Website",
 *   spec: s.object({ host: s.string(), replicas: s.integer({ maximum: 20, default: 1 }) }),
 * });
 *
 * assert.deepEqual(validate(Website, { spec: { host: "a.example.com", replicas: 21 } }), [{
 *   reason: "FieldValueInvalid",
 *   field: "spec.replicas",
 *   message: "Invalid value: 21: spec.replicas in body should be less than or equal to 20",
 * }]);
 * ```
 *
 * @example A rule that compares with the old value
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 * import { validate } from "@op/sdk/validation";
 *
 * const name = s.string({
 *   validations: [{ rule: "self == oldSelf", message: "the name cannot be changed" }],
 * });
 *
 * assert.deepEqual(validate(name, "b"), []);
 * assert.equal(
 *   validate(name, "b", { old: "a" })[0]?.message,
 *   'Invalid value: "b": the name cannot be changed',
 * );
 * ```
 */
export function validate(schema: JsonSchema | AnyKind, value: unknown, options: ValidationOptions = {}): FieldError[] {
  const { old, path } = options;
  const pathOption = path === undefined ? {} : { path };
  if (!isKind(schema, "validate")) {
    const before = old === undefined ? {} : { old: partAsStored(schema, old) };
    return validateValue(schema, partAsStored(schema, value), { ...before, ...pathOption });
  }
  const whole = objectSchema(schema, "validate");
  const object = withType(schema, value);
  const typeErrors = validateType(schema, object);
  if (typeErrors.length > 0) return typeErrors;
  const before = old === undefined ? {} : { old: asStored(whole, withType(schema, old)) };
  return validateValue(whole, asStored(whole, object), { ...before, ...pathOption, isResource: true });
}

/**
 * Returns a value with the defaults that an API server would set.
 *
 * @param schema A schema, or a kind from {@linkcode resource}: `apiVersion` and `kind` are then
 * set, too.
 * @param value The value as written or as read; it is not modified.
 * @returns The value as read; parts without defaults are shared with `value`.
 * @throws {TypeError} If `schema` is a kind without a CustomResourceDefinition, such as a built-in
 * kind.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { resource, s } from "@op/sdk";
 * import { applyDefaults } from "@op/sdk/validation";
 *
 * const Website = resource({
 *   group: "demo.example.com",
 *   version: "v1",
 *   kind: "Website",
 *   spec: s.object({ host: s.string(), replicas: s.integer({ default: 1 }) }),
 * });
 *
 * const website = applyDefaults(Website, {
 *   metadata: { name: "shop" },
 *   spec: { host: "shop.example.com" },
 * });
 * assert.equal(website.spec.replicas, 1);
 * assert.equal(website.kind, "Website");
 * ```
 */
export function applyDefaults<S extends Schema | AnyKind>(schema: S, value: ToDefault<S>): Defaulted<S> {
  const given: JsonSchema | AnyKind = schema;
  const result = isKind(given, "apply defaults to")
    ? applySchemaDefaults(objectSchema(given, "apply the defaults of"), withType(given, value))
    : applySchemaDefaults(given, value);
  return result as Defaulted<S>;
}

/**
 * Drops the fields that a schema does not declare, as an API server does when it reads or stores an
 * object.
 *
 * @param schema A schema, or a kind from {@linkcode resource}: the value is then a whole object,
 * whose metadata is kept.
 * @param value The value; it is not modified.
 * @returns The value without the unknown fields, and the path of each of them.
 * @throws {TypeError} If `schema` is a kind without a CustomResourceDefinition, such as a built-in
 * kind.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { resource, s } from "@op/sdk";
 * import { prune } from "@op/sdk/validation";
 *
 * const Website = resource({
 *   group: "demo.example.com",
 *   version: "v1",
 *   kind: "Website",
 *   spec: s.object({ host: s.string() }),
 * });
 *
 * const { value, dropped } = prune(Website, { spec: { host: "a.example.com", hots: "b" } });
 * assert.deepEqual(value, { spec: { host: "a.example.com" } });
 * assert.deepEqual(dropped, ["spec.hots"]);
 * ```
 */
export function prune(schema: JsonSchema | AnyKind, value: unknown): Pruned {
  if (isKind(schema, "prune")) return pruneValue(objectSchema(schema, "prune an object of"), value);
  // The value is wrapped, because `apiVersion`, `kind` and `metadata` are never pruned at the root.
  const { value: pruned, dropped } = pruneValue({ type: "object", properties: { part: schema } }, { part: value });
  const inPart = (path: string): string => path.slice("part".length).replace(/^\./, "");
  return { value: (pruned as { part: unknown }).part, dropped: dropped.map(inPart) };
}

/** A value as a user writes it, or as it was read. */
export type ToDefault<S> = S extends Kind<infer Read extends KubeObject, infer Written> ? Written | Read
  : S extends Schema<infer Read, infer Written> ? Written | Read
  : never;

function isKind(given: JsonSchema | AnyKind, action: string): given is AnyKind {
  if (!isObject(given)) {
    throw new TypeError(
      `Cannot ${action} a value: the first argument must be a schema or a kind, got ` +
        `${JSON.stringify(given)}`,
    );
  }
  return "plural" in given && "apiVersion" in given;
}

function objectSchema({ kind, version, crd }: AnyKind, action: string): JsonSchema {
  const found = crd?.spec.versions.find(({ name }: DefinitionVersion) => name === version);
  if (found !== undefined) return found.schema.openAPIV3Schema;
  throw new TypeError(`Cannot ${action} kind "${kind}": it has no schema. Only kinds from resource() have one`);
}

/** Returns a value as the server validates it: without unknown fields and with defaults. */
function asStored(schema: JsonSchema, value: unknown): unknown {
  return applySchemaDefaults(schema, pruneValue(schema, value).value);
}

/** Like {@linkcode asStored} for a part of an object, in which `kind` is an ordinary field. */
function partAsStored(schema: JsonSchema, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const { part } = asStored({ type: "object", properties: { part: schema } }, { part: value }) as { part: unknown };
  return part;
}

function withType({ apiVersion, kind }: AnyKind, value: unknown): unknown {
  return isObject(value) ? { apiVersion, kind, ...value } : value;
}

function validateType(expected: AnyKind, object: unknown): FieldError[] {
  if (!isObject(object)) return [];
  return (["kind", "apiVersion"] as const).filter((key) => own(object, key) !== expected[key]).map((key) => ({
    reason: "FieldValueInvalid",
    field: key,
    message: `Invalid value: ${JSON.stringify(own(object, key) ?? "")}: must be ${expected[key]}`,
  }));
}
