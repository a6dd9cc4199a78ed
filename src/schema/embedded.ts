/** Whole objects of Kubernetes inside of another. */
import { isObject } from "../base/json.ts";
import { lowered } from "./keywords.ts";
import { objectOf, type ObjectOptions, type ReadObject, type WrittenObject } from "./object.ts";
import type { Flatten, Properties, Schema, WhenDefaulted } from "./schema.ts";

/** `metadata` of an embedded object. */
export interface EmbeddedMetadata {
  /** A DNS name where it is there. */
  readonly name?: string | undefined;
  /** Such as `shop`. */
  readonly namespace?: string | undefined;
  /** In place of a name: what it begins with. */
  readonly generateName?: string | undefined;
  /** Checked as the server checks labels of its own objects. */
  readonly labels?: { readonly [key: string]: string } | undefined;
  /** Notes, 256 KiB in all. */
  readonly annotations?: { readonly [key: string]: string } | undefined;
  /** Each as `domain/name`. */
  readonly finalizers?: readonly string[] | undefined;
}

/** What every embedded object has. */
export interface EmbeddedObject {
  /** `group/version`, or the version alone for the core group. */
  readonly apiVersion: string;
  /** In CamelCase, singular. */
  readonly kind: string;
  /** What of it is known is checked, and the rest dropped. */
  readonly metadata?: EmbeddedMetadata | undefined;
}

/** An embedded object whose other fields are kept, whatever they are. */
export interface OpenEmbeddedObject extends EmbeddedObject {
  /** Whatever else its kind has. */
  readonly [field: string]: unknown;
}

/**
 * An object of Kubernetes, such as a template of a ConfigMap: with `apiVersion` and `kind`, and `metadata` that the server checks as its own.
 *
 * @param properties Names and schemas of its other fields, or of those three where they are to be restricted. Without any, all fields are
 * kept.
 * @param options Keywords of JSON Schema. `preserveUnknownFields` keeps other fields than those said.
 * @throws {TypeError} If the default is not of the schema.
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
  return objectOf("make an embedded resource schema", properties ?? {}, {
    ...lowered("make an embedded resource schema", { ...options, ...(isOpen && { preserveUnknownFields: true }) }),
    "x-kubernetes-embedded-resource": true,
  });
}

/** An embedded object with the fields that are said of it: open where none is. */
export type Embedded<P, Fields, Keep> = [keyof P] extends [never] ? OpenEmbeddedObject
  :
    & Flatten<Fields & Omit<EmbeddedObject, keyof Fields>>
    & ([Keep] extends [never] ? unknown : { readonly [key: string]: unknown });
