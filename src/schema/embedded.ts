/** Kubernetes objects inside of other objects. */
import { isObject } from "../base/json.ts";
import { toJsonSchema } from "./keywords.ts";
import { objectOf, type ObjectOptions, type ReadObject, type WrittenObject } from "./object.ts";
import type { Flatten, Properties, Schema, WhenDefaulted } from "./schema.ts";

/** `metadata` of an embedded object. */
export interface EmbeddedMetadata {
  /** A DNS name. */
  readonly name?: string | undefined;
  /** A namespace such as `shop`. */
  readonly namespace?: string | undefined;
  /** The prefix of a generated name, instead of a name. */
  readonly generateName?: string | undefined;
  /** Validated like labels of any object. */
  readonly labels?: { readonly [key: string]: string } | undefined;
  /** At most 256 KiB in total. */
  readonly annotations?: { readonly [key: string]: string } | undefined;
  /** Each has the form `domain/name`. */
  readonly finalizers?: readonly string[] | undefined;
}

/** The fields of every embedded object. */
export interface EmbeddedObject {
  /** `group/version`, or only the version for the core group. */
  readonly apiVersion: string;
  /** In CamelCase, singular. */
  readonly kind: string;
  /** Known fields are validated; others are dropped. */
  readonly metadata?: EmbeddedMetadata | undefined;
}

/** An embedded object that retains all other fields. */
export interface OpenEmbeddedObject extends EmbeddedObject {
  /** Any other field of its kind. */
  readonly [field: string]: unknown;
}

/**
 * Builds the schema of a Kubernetes object, such as a template of a ConfigMap: it has `apiVersion`,
 * `kind` and `metadata`, which the server validates like that of any object.
 *
 * @param properties Names and schemas of its other fields, or restrictions of those three. Without
 * properties, all fields are retained.
 * @param options Keywords of JSON Schema. `preserveUnknownFields` retains undeclared fields.
 * @throws {TypeError} If the default does not match the schema.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * assert.deepEqual(s.embeddedResource(), {
 *   type: "object",
 *   "x-kubernetes-embedded-resource": true,
 *   "x-kubernetes-preserve-unknown-fields": true,
 * });
 * ```
 */
export function embeddedResource<
  P extends Properties = Record<never, never>,
  Default extends EmbeddedObject = never,
  Keep extends true = never,
>(
  properties?: P,
  options: ObjectOptions<EmbeddedObject, Default, Keep> = {},
): Schema<Embedded<P, ReadObject<P>, Keep>, Embedded<P, WrittenObject<P>, Keep>, WhenDefaulted<Default>> {
  const isOpen = properties === undefined || (isObject(properties) && Object.keys(properties).length === 0);
  return objectOf("define an embedded resource schema", properties ?? {}, {
    ...toJsonSchema("define an embedded resource schema", {
      ...options,
      ...(isOpen && { preserveUnknownFields: true }),
    }),
    "x-kubernetes-embedded-resource": true,
  });
}

/** An embedded object with the declared fields; open if no field is declared. */
export type Embedded<P, Fields, Keep> = [keyof P] extends [never] ? OpenEmbeddedObject
  :
    & Flatten<Fields & Omit<EmbeddedObject, keyof Fields>>
    & ([Keep] extends [never] ? unknown : { readonly [key: string]: unknown });
