/** The changes that handlers receive. */
import type { JsonPatchOperation } from "../../base/json_patch.ts";
import type { DiffEntry } from "../../handlers/diff.ts";
import type { AnyKind, Infer } from "../../resource/kind.ts";
import type { CheckedField, FieldAt } from "./field.ts";

/**
 * The fields of an object that `on.update` follows: all except the status and most metadata. Of the
 * metadata, it has labels and annotations, without those of kubectl, kopf and this SDK.
 */
export type Snapshot<K extends AnyKind> =
  & Omit<Infer<K>, "apiVersion" | "kind" | "metadata" | "status">
  & {
    readonly metadata: {
      readonly labels?: { readonly [name: string]: string };
      readonly annotations?: { readonly [name: string]: string };
    };
  };

/**
 * The changes between two values: an iterable of the changed fields. Lists whose schema declares
 * keys (`x-kubernetes-list-type: map`) are compared by key; other lists are compared as a whole.
 *
 * @typeParam T The compared values.
 */
export interface Diff<T> extends Iterable<DiffEntry> {
  /** Number of changed fields. */
  readonly size: number;
  /**
   * Returns the old and the current value of a field, or `undefined` if it did not change.
   *
   * @param path The field, relative to the compared values: `.spec.replicas`.
   */
  at<P extends string>(path: CheckedField<T, P>): ValueChange<FieldAt<T, P>> | undefined;
  /** Returns whether a field changed. */
  has<P extends string>(path: CheckedField<T, P>): boolean;
  /** Returns the changes within a field, with paths relative to it. */
  under<P extends string>(path: CheckedField<T, P>): Diff<FieldAt<T, P>>;
  /** Returns the changes as a JSON patch (RFC 6902) from the old value to the current one. */
  toPatch(): JsonPatchOperation[];
}

/** The old and the current value of a field. */
export interface ValueChange<V> {
  /** The value in the last successful call, or `undefined` if the field did not exist. */
  readonly old: V | undefined;
  /** The value now, or `undefined` if the field does not exist. */
  readonly current: V | undefined;
}
