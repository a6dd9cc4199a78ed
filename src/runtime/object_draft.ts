/**
 * What a reconcile changes in the object that it reconciles. The changes are collected during the
 * reconcile and sent by `object_writer.ts`.
 */
import { equal } from "../base/json.ts";
import type { KubeObject } from "../resource/kind.ts";
import type { FieldChange, FieldKeys, GuardedChanges } from "./object_patch.ts";
import { StatusDraft } from "./status.ts";

/** The changes of one reconcile to the reconciled object. */
export class ObjectDraft {
  /** The reported status. */
  readonly status: StatusDraft = new StatusDraft();
  /** Changed fields by what they belong to. Most reconciles change none. */
  #fields: { readonly object: FieldChange[]; readonly status: FieldChange[] } | undefined;
  #finalizers: { readonly added: readonly string[]; readonly removed: readonly string[] } | undefined;

  /**
   * Changes a field, provided that the stored object still has the value that was read. Otherwise
   * all changes of the same request fail with a `StaleObjectError`, and the object is reconciled
   * again. Other fields may change meanwhile.
   *
   * @param keys The keys that lead to the field. If the first one is `status`, the field is written
   *   with the status.
   * @param before The value that was read; `undefined` if the object did not have the field.
   * @param after The new value; `undefined` removes the field.
   */
  replace(keys: FieldKeys, before: unknown, after: unknown): void {
    if (equal(before, after)) return;
    this.#fields ??= { object: [], status: [] };
    this.#fields[keys[0] === "status" ? "status" : "object"].push({ keys, before, after });
  }

  /** Changes the finalizers: adds some at the end, and removes others. */
  changeFinalizers(added: readonly string[], removed: readonly string[]): void {
    this.#finalizers = { added, removed };
  }

  /** Whether the object changes, apart from its status. */
  get changesObject(): boolean {
    return this.#finalizers !== undefined || (this.#fields !== undefined && this.#fields.object.length > 0);
  }

  /** Adds the changes of another draft. They override earlier ones. */
  include(other: ObjectDraft): void {
    this.status.include(other.status);
    for (const { keys, before, after } of [...other.#fields?.object ?? [], ...other.#fields?.status ?? []]) {
      this.replace(keys, before, after);
    }
    this.#finalizers = other.#finalizers ?? this.#finalizers;
  }

  /**
   * Returns the changes of the object without its status, and removes them from the draft, so that
   * they are sent once even if the request fails. `undefined` if nothing changes.
   *
   * @param object The object in the cache.
   */
  takeObjectChanges(object: KubeObject): GuardedChanges | undefined {
    if (!this.changesObject) return undefined;
    const fields = this.#fields?.object.splice(0) ?? [];
    const { added, removed } = this.#finalizers ?? { added: [], removed: [] };
    this.#finalizers = undefined;
    const before = object.metadata.finalizers ?? [];
    const after = [...before.filter((name) => !added.includes(name) && !removed.includes(name)), ...added];
    if (equal(before, after)) return fields.length === 0 ? undefined : { merge: {}, fields, isVersioned: false };
    // The version is tested where the list of finalizers cannot be: in a merge patch. It is also
    // tested before a finalizer is added, because the object may be being deleted by now.
    if (fields.length === 0 || added.length > 0) {
      return { merge: { metadata: { finalizers: after } }, fields, isVersioned: true };
    }
    const change = { keys: ["metadata", "finalizers"], before, after };
    return { merge: {}, fields: [...fields, change], isVersioned: false };
  }

  /** Returns the changed fields of the status, and removes them from the draft. */
  takeStatusFields(): readonly FieldChange[] {
    return this.#fields?.status.splice(0) ?? [];
  }

  /**
   * Returns a draft with the same changes of fields, but without finalizers and without the
   * reported status: what is written after the reconcile failed.
   */
  withoutReport(): ObjectDraft {
    const draft = new ObjectDraft();
    for (const { keys, before, after } of [...this.#fields?.object ?? [], ...this.#fields?.status ?? []]) {
      draft.replace(keys, before, after);
    }
    return draft;
  }
}
