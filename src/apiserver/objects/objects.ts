/** The parts of objects that all kinds share. */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import type { CheckedOwner } from "../../schema/metadata_errors.ts";

/** `metadata` of an object in the store. */
export interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly generateName?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly creationTimestamp: string;
  readonly generation?: number;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

/** An entry of `metadata.ownerReferences`. */
export type OwnerReference = CheckedOwner;

/** An entry of `metadata.managedFields`. */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: unknown;
  readonly subresource?: string;
}

/** An object as stored. It is never changed in place. */
export interface StoredObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly [key: string]: unknown;
}

/** An object that is not decoded yet: any JSON object. */
export type Draft = Readonly<Record<string, unknown>>;

/** A JSON object whose fields have not been checked. */
export type Fields = Readonly<Record<string, unknown>>;

/** Returns a value if it is an object, and `{}` otherwise. */
export function fields(value: unknown): Fields {
  return isObject(value) ? value : {};
}

/** Returns the `metadata` of an object, or `{}` if it has none. */
export function metadataOf(object: Draft): Partial<Metadata> & Readonly<Record<string, unknown>> {
  const metadata = own(object, "metadata");
  return isObject(metadata) ? metadata : {};
}

/**
 * Returns a copy of an object with changed metadata.
 *
 * @param object The object.
 * @param changes Values to set; `undefined` removes a key.
 */
export function withMetadata<T extends Draft>(
  object: T,
  changes: { readonly [K in keyof Metadata]?: Metadata[K] | undefined },
): T {
  const metadata: Record<string, unknown> = { ...metadataOf(object), ...changes };
  for (const key of Object.keys(changes)) if (metadata[key] === undefined) delete metadata[key];
  return { ...object, metadata };
}

/** Formats a time as Kubernetes does: RFC 3339 in UTC, with whole seconds. */
export function timestamp(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}
