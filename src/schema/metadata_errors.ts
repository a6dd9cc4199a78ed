/**
 * Validates the `metadata` of an object or of an embedded object
 * (`k8s.io/apimachinery/pkg/api/validation/objectmeta.go`, `.../apis/meta/v1/validation`).
 */
import {
  labelErrors,
  labelValueErrors,
  type NameRule,
  pathSegmentErrors,
  prefixRule,
  qualifiedNameErrors,
} from "../base/name_rules.ts";
import { type FieldError, forbidden, invalid, required, tooLong } from "./field_error.ts";
import { goJson } from "./go_text.ts";

/** The validated fields. */
export interface CheckedMetadata {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly generation?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly CheckedOwner[];
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly CheckedManager[];
}

/** An entry of `ownerReferences`. */
export interface CheckedOwner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** An entry of `managedFields`. */
export interface CheckedManager {
  readonly manager?: string;
  readonly operation?: string;
  readonly fieldsType?: string;
  readonly subresource?: string;
}

const LONGEST_ANNOTATIONS = 256 * 1024;

/**
 * Validates an object's metadata.
 *
 * @param metadata The metadata.
 * @param namespaced Whether the object must have a namespace.
 * @param nameRule The rule for names of the kind.
 * @param path The path of the metadata.
 */
export function metadataErrors(
  metadata: CheckedMetadata,
  namespaced: boolean,
  nameRule: NameRule,
  path = "metadata",
): FieldError[] {
  const found: FieldError[] = [];
  const { name, generateName, namespace } = metadata;
  if (generateName) {
    // A generated suffix follows: the prefix may end in characters that a name may not end in, and
    // "." is valid.
    const errors = /^\.\.?$/.test(generateName) && nameRule === pathSegmentErrors
      ? []
      : prefixRule(nameRule)(generateName);
    found.push(...errors.map((error) => invalid(`${path}.generateName`, generateName, error)));
  }
  if (!name) found.push(required(`${path}.name`, "name or generateName is required"));
  else found.push(...nameRule(name).map((error) => invalid(`${path}.name`, name, error)));
  if (!namespaced) {
    if (namespace) found.push(forbidden(`${path}.namespace`, "not allowed on this type"));
  } else if (!namespace) found.push(required(`${path}.namespace`));
  else found.push(...labelErrors(namespace).map((error) => invalid(`${path}.namespace`, namespace, error)));
  const { generation = 0 } = metadata;
  if (generation < 0) found.push(invalid(`${path}.generation`, generation, "must be greater than or equal to 0"));
  found.push(...labelsErrors(metadata.labels ?? {}, `${path}.labels`));
  found.push(...annotationsErrors(metadata.annotations ?? {}, `${path}.annotations`));
  found.push(...ownerErrors(metadata.ownerReferences ?? [], `${path}.ownerReferences`));
  found.push(...finalizerErrors(metadata.finalizers ?? [], `${path}.finalizers`));
  found.push(...managersErrors(metadata.managedFields ?? [], `${path}.managedFields`));
  return found;
}

/** Validates labels. */
export function labelsErrors(labels: Readonly<Record<string, string>>, field: string): FieldError[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...qualifiedNameErrors(key).map((error) => invalid(field, key, error)),
    ...labelValueErrors(value).map((error) => invalid(field, value, error)),
  ]);
}

function annotationsErrors(annotations: Readonly<Record<string, string>>, field: string): FieldError[] {
  const entries = Object.entries(annotations);
  const found = entries.flatMap(([key]) =>
    qualifiedNameErrors(key.toLowerCase()).map((error) => invalid(field, key, error))
  );
  const size = entries.reduce((sum, [key, value]) => sum + bytesOf(key) + bytesOf(value), 0);
  if (size > LONGEST_ANNOTATIONS) found.push(tooLong(field, LONGEST_ANNOTATIONS));
  return found;
}

const encoder = new TextEncoder();

function bytesOf(text: string): number {
  return encoder.encode(text).length;
}

function ownerErrors(owners: readonly CheckedOwner[], field: string): FieldError[] {
  const found: FieldError[] = [];
  let controller: string | undefined;
  for (const owner of owners) {
    // An invalid version counts as missing.
    if (!owner.apiVersion || owner.apiVersion.split("/").length > 2 || owner.apiVersion.endsWith("/")) {
      found.push(invalid(`${field}.apiVersion`, owner.apiVersion, "version must not be empty"));
    }
    for (const key of ["kind", "name", "uid"] as const) {
      if (!owner[key]) found.push(invalid(`${field}.${key}`, "", "must not be empty"));
    }
    if (owner.apiVersion === "v1" && owner.kind === "Event") {
      found.push(invalidWithText(field, ownerText(owner), "/v1, Kind=Event is disallowed from being an owner"));
    }
    if (!owner.controller) continue;
    const name = `${owner.kind}/${owner.name}`;
    if (controller !== undefined) {
      const detail = 'Only one reference can have Controller set to true. Found "true" in references for ' +
        `${controller} and ${name}`;
      found.push(invalidWithText(field, `[${owners.map(ownerText).join(",")}]`, detail));
    } else controller = name;
  }
  return found;
}

const OWNER_ORDER = ["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"] as const;

/** Formats an owner reference as Go prints the struct. */
function ownerText(owner: CheckedOwner): string {
  const parts = OWNER_ORDER.filter((key) => owner[key] !== undefined).map((key) => `"${key}":${goJson(owner[key])}`);
  return `{${parts.join(",")}}`;
}

function invalidWithText(field: string, text: string, detail: string): FieldError {
  return { reason: "FieldValueInvalid", field, message: `Invalid value: ${text}: ${detail}` };
}

const LONGEST_MANAGER = 128;
const LONGEST_SUBRESOURCE = 256;

function managersErrors(managers: readonly CheckedManager[], path: string): FieldError[] {
  return managers.flatMap(({ manager = "", operation = "", fieldsType, subresource = "" }, i) => {
    const field = `${path}[${i}]`;
    const found: FieldError[] = [];
    if (operation !== "Apply" && operation !== "Update") {
      found.push(invalid(`${field}.operation`, operation, "must be `Apply` or `Update`"));
    }
    if (fieldsType && fieldsType !== "FieldsV1") {
      found.push(invalid(`${field}.fieldsType`, fieldsType, "must be `FieldsV1`"));
    }
    if (bytesOf(manager) > LONGEST_MANAGER) found.push(tooLong(`${field}.manager`, LONGEST_MANAGER));
    found.push(...characterErrors(manager, `${field}.manager`));
    if (bytesOf(subresource) > LONGEST_SUBRESOURCE) found.push(tooLong(`${field}.subresource`, LONGEST_SUBRESOURCE));
    return found;
  });
}

/**
 * Reports unprintable characters in the name of a field manager.
 *
 * @param manager The name.
 * @param field The path of the name.
 */
export function characterErrors(manager: string, field: string): FieldError[] {
  return [...manager].flatMap((character, i) => {
    if (!/\p{C}|[\p{Z}--[ ]]/v.test(character)) return [];
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    return [invalid(field, manager, `invalid character U+${code} (at position ${i})`)];
  });
}

function finalizerErrors(finalizers: readonly string[], field: string): FieldError[] {
  const found = finalizers.flatMap((each) => qualifiedNameErrors(each).map((error) => invalid(field, each, error)));
  if (finalizers.includes("orphan") && finalizers.includes("foregroundDeletion")) {
    found.push(invalid(field, finalizers, "finalizer orphan and foregroundDeletion cannot be both set"));
  }
  return found;
}
