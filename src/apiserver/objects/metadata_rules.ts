/** Validation of changes of `metadata` (`k8s.io/apimachinery/pkg/api/validation/objectmeta.go`). */
import { equal } from "../../base/json.ts";
import { type FieldError, forbidden, invalid } from "../../schema/field_error.ts";
import { metadataErrors } from "../../schema/metadata_errors.ts";
import type { Metadata, StoredObject } from "./objects.ts";

export { labelsErrors, metadataErrors } from "../../schema/metadata_errors.ts";

/**
 * Returns each error of metadata twice, except errors of the name. The real server validates
 * metadata two more times on update than on create, and reports all errors.
 *
 * @param metadata The metadata.
 * @param namespaced Whether the kind is namespaced.
 */
export function repeatedMetadataErrors(metadata: Metadata, namespaced: boolean): FieldError[] {
  const errors = metadataErrors(metadata, namespaced, () => []).filter(({ field }) => !NAME_FIELDS.test(field));
  return [...errors, ...errors];
}

const NAME_FIELDS = /^metadata\.(?:name|generateName|namespace)$/;

/**
 * Returns the errors of an update of metadata.
 *
 * @param metadata The new metadata.
 * @param old The old metadata.
 * @param first Errors to report first.
 */
export function metadataUpdateErrors(
  metadata: Metadata,
  old: Metadata,
  first: readonly FieldError[] = [],
): FieldError[] {
  const found = [...first];
  if (old.deletionTimestamp !== undefined) {
    const added = (metadata.finalizers ?? []).filter((each) => !old.finalizers?.includes(each)).sort();
    if (added.length > 0) {
      const list = `[]string{${[...new Set(added)].map((each) => JSON.stringify(each)).join(", ")}}`;
      const reason = `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`;
      found.push(forbidden("metadata.finalizers", reason));
    }
  }
  if (!metadata.resourceVersion) {
    found.push(invalid("metadata.resourceVersion", "", "must be specified for an update"));
  }
  for (const key of ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp"] as const) {
    if (!equal(metadata[key], old[key])) found.push(invalid(`metadata.${key}`, metadata[key], "field is immutable"));
  }
  if (!equal(metadata.deletionGracePeriodSeconds, old.deletionGracePeriodSeconds)) {
    found.push(
      invalid("metadata.deletionGracePeriodSeconds", metadata.deletionGracePeriodSeconds ?? null, "field is immutable"),
    );
  }
  return found;
}

/** `standardFinalizers` in `k8s.io/kubernetes/pkg/apis/core/helper`. */
const STANDARD_FINALIZERS = new Set(["orphan", "foregroundDeletion", "kubernetes"]);

/**
 * Groups that accept finalizers without a domain, as custom kinds do. This depends on the
 * validation function that each kind calls; `tests/real/builtin_kinds_test.ts` compares all kinds
 * with a real API server.
 */
const UNCHECKED_GROUPS = new Set([
  ...["admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "coordination.k8s.io"],
  ...["events.k8s.io", "node.k8s.io", "policy"],
]);

/**
 * Returns the errors of the finalizers of a built-in kind. Most of these kinds reject finalizers
 * without a domain (`k8s.io/kubernetes/pkg/apis/core/validation`).
 *
 * @param collection Group and plural.
 * @param finalizers The finalizers.
 */
export function builtinFinalizerErrors(collection: string, finalizers: readonly string[] = []): FieldError[] {
  if (collection === "/events" || UNCHECKED_GROUPS.has(collection.split("/")[0]!)) return [];
  return finalizers.flatMap((each, i) =>
    each.includes("/") || STANDARD_FINALIZERS.has(each) ? [] : invalid(
      `metadata.finalizers[${i}]`,
      each,
      "name is neither a standard finalizer name nor is it fully qualified",
    )
  );
}

/**
 * Returns warnings about the finalizers that a write adds.
 *
 * @param object The object as written.
 * @param old The object before the write.
 */
export function finalizerWarnings(object: StoredObject, old?: StoredObject): string[] {
  const added = (object.metadata.finalizers ?? []).filter((each) => !old?.metadata.finalizers?.includes(each));
  return [...new Set(added)].sort().filter((each) => !each.includes("/") && !STANDARD_FINALIZERS.has(each)).map(
    (each) => {
      const path = each.includes(".") ? " including a path (/)" : "";
      const advice =
        `prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`;
      return `metadata.finalizers: ${JSON.stringify(each)}: ${advice}`;
    },
  );
}
