/** Validation of `metadata` (`k8s.io/apimachinery/pkg/api/validation/objectmeta.go`). */
import { equal } from "../base/json.ts";
import { type FieldError, forbidden, invalid, required, tooLong } from "../schema/field_error.ts";
import { labelFaults, labelValueFaults, type NameRule, qualifiedNameFaults } from "./names.ts";
import type { Metadata, OwnerReference, StoredObject } from "./objects.ts";

const LONGEST_ANNOTATIONS = 256 * 1024;

/**
 * What is wrong with an object's metadata.
 *
 * @param metadata The metadata.
 * @param namespaced Whether the kind is.
 * @param nameRule What names the kind allows.
 */
export function metadataFaults(metadata: Metadata, namespaced: boolean, nameRule: NameRule): FieldError[] {
  const found: FieldError[] = [];
  const { name, generateName, namespace } = metadata;
  if (generateName) {
    // What comes before a generated suffix may end where a name may not.
    const prefix = generateName.replace(/-$/, "a");
    found.push(...nameRule(prefix).map((fault) => invalid("metadata.generateName", generateName, fault)));
  }
  if (!name) found.push(required("metadata.name", "name or generateName is required"));
  else found.push(...nameRule(name).map((fault) => invalid("metadata.name", name, fault)));
  if (!namespaced) {
    if (namespace) found.push(forbidden("metadata.namespace", "not allowed on this type"));
  } else if (!namespace) found.push(required("metadata.namespace"));
  else found.push(...labelFaults(namespace).map((fault) => invalid("metadata.namespace", namespace, fault)));
  found.push(...labelsFaults(metadata.labels ?? {}, "metadata.labels"));
  found.push(...annotationsFaults(metadata.annotations ?? {}));
  found.push(...ownerFaults(metadata.ownerReferences ?? []));
  found.push(...finalizerFaults(metadata.finalizers ?? []));
  return found;
}

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

/** What is wrong with labels. */
export function labelsFaults(labels: Readonly<Record<string, string>>, field: string): FieldError[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...qualifiedNameFaults(key).map((fault) => invalid(field, key, fault)),
    ...labelValueFaults(value).map((fault) => invalid(field, value, fault)),
  ]);
}

function annotationsFaults(annotations: Readonly<Record<string, string>>): FieldError[] {
  const field = "metadata.annotations";
  const entries = Object.entries(annotations);
  const found = entries.flatMap(([key]) =>
    qualifiedNameFaults(key.toLowerCase()).map((fault) => invalid(field, key, fault))
  );
  const size = entries.reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  if (size > LONGEST_ANNOTATIONS) found.push(tooLong(field, LONGEST_ANNOTATIONS));
  return found;
}

function ownerFaults(owners: readonly OwnerReference[]): FieldError[] {
  const found: FieldError[] = [];
  let controller: string | undefined;
  for (const owner of owners) {
    const field = "metadata.ownerReferences";
    if (!owner.apiVersion) found.push(invalid(`${field}.apiVersion`, "", "version must not be empty"));
    for (const key of ["kind", "name", "uid"] as const) {
      if (!owner[key]) found.push(invalid(`${field}.${key}`, "", "must not be empty"));
    }
    if (owner.apiVersion === "v1" && owner.kind === "Event") {
      found.push(invalid(field, owner, "/v1, Kind=Event is disallowed from being an owner"));
    }
    if (!owner.controller) continue;
    const name = `${owner.kind}/${owner.name}`;
    if (controller !== undefined) {
      const why = 'Only one reference can have Controller set to true. Found "true" in references for ' +
        `${controller} and ${name}`;
      found.push(invalid(field, owners, why));
    } else controller = name;
  }
  return found;
}

function finalizerFaults(finalizers: readonly string[]): FieldError[] {
  const field = "metadata.finalizers";
  const found = finalizers.flatMap((each) => qualifiedNameFaults(each).map((fault) => invalid(field, each, fault)));
  if (finalizers.includes("orphan") && finalizers.includes("foregroundDeletion")) {
    found.push(invalid(field, finalizers, "finalizer orphan and foregroundDeletion cannot be both set"));
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
