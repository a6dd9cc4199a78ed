/** Validation of changes of `metadata` (`k8s.io/apimachinery/pkg/api/validation/objectmeta.go`). */
import { equal } from "../base/json.ts";
import { type FieldError, forbidden, invalid } from "../schema/field_error.ts";
import type { Metadata, StoredObject } from "./objects.ts";

export { labelsFaults, metadataFaults } from "../schema/metadata_faults.ts";

/**
 * What is wrong with a change of metadata.
 *
 * @param metadata What it is to be.
 * @param old What it is.
 */
export function metadataUpdateFaults(metadata: Metadata, old: Metadata): FieldError[] {
  const found: FieldError[] = [];
  if (old.deletionTimestamp !== undefined) {
    const added = (metadata.finalizers ?? []).filter((each) => !old.finalizers?.includes(each)).sort();
    if (added.length > 0) {
      const list = `[]string{${[...new Set(added)].map((each) => JSON.stringify(each)).join(", ")}}`;
      const why = `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`;
      found.push(forbidden("metadata.finalizers", why));
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

const STANDARD_FINALIZERS = new Set(["orphan", "foregroundDeletion", "kubernetes"]);

/**
 * What the server warns of in the finalizers that a write adds.
 *
 * @param object The object as written.
 * @param old The object as it was.
 */
export function finalizerWarnings(object: StoredObject, old?: StoredObject): string[] {
  const added = (object.metadata.finalizers ?? []).filter((each) => !old?.metadata.finalizers?.includes(each));
  return [...new Set(added)].sort().filter((each) => !each.includes("/") && !STANDARD_FINALIZERS.has(each)).map(
    (each) => {
      const path = each.includes(".") ? " including a path (/)" : "";
      const wish =
        `prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`;
      return `metadata.finalizers: ${JSON.stringify(each)}: ${wish}`;
    },
  );
}
