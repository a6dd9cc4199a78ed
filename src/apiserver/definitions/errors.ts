/**
 * Validation of CustomResourceDefinitions
 * (`k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation`).
 */
import { equal, isObject } from "../../base/json.ts";
import { label1035Errors, subdomainErrors } from "../../base/name_rules.ts";
import { own } from "../../base/own.ts";
import { duplicate, type FieldError, invalid, notSupported, required, tooMany } from "../../schema/field_error.ts";
import { type FieldTarget, fieldTarget } from "../../schema/field_path.ts";
import { goJson } from "../../schema/go_text.ts";
import type { JsonSchema } from "../../schema/json_schema.ts";
import { schemaErrors } from "../../schema/structural.ts";
import { type Tolerated, toleratedIn } from "../../schema/tolerated.ts";
import type { DeclaredScale } from "../objects/kinds.ts";
import type { StoredObject } from "../objects/objects.ts";
import type { DeclaredColumn } from "../tables/columns.ts";
import { conversionErrors } from "./conversion_errors.ts";
import type { DefinitionNames, DefinitionSpec, DefinitionStatus, DefinitionVersion } from "./crd.ts";
import { quotedVersions, type SharedParts, sharedParts } from "./form.ts";

/**
 * Returns the errors of a definition.
 *
 * @param definition The definition, including its new status.
 * @param old The previous definition; absent if it is new.
 */
export function definitionErrors(definition: StoredObject, old?: StoredObject): FieldError[] {
  const spec = definition.spec as DefinitionSpec | undefined;
  if (spec === undefined) return [required("spec")];
  const errors: FieldError[] = [];
  const { plural = "" } = spec.names ?? {};
  const name = `${plural}.${spec.group ?? ""}`;
  // A missing name is already reported.
  if (old === undefined && definition.metadata.name && definition.metadata.name !== name) {
    errors.push(invalid("metadata.name", definition.metadata.name, `must be spec.names.plural+"."+spec.group`));
  }
  const status = definition.status as DefinitionStatus | undefined;
  return [
    ...errors,
    ...specErrors(spec, old?.spec as DefinitionSpec | undefined),
    ...(old === undefined ? [] : immutableErrors(spec, old)),
    ...storedVersionsErrors(status?.storedVersions ?? [], spec.versions ?? []),
    ...approvalErrors(spec.group ?? "", definition, old),
    ...preserveUnknownFieldsErrors(spec, old?.spec as DefinitionSpec | undefined),
  ];
}

/** A definition and its previous state. */
interface Change {
  readonly versions: readonly DefinitionVersion[];
  readonly shared: SharedParts;
  readonly tolerated: Tolerated;
  readonly old: DefinitionSpec | undefined;
}

function specErrors(spec: DefinitionSpec, old: DefinitionSpec | undefined): FieldError[] {
  const versions = spec.versions ?? [];
  const shared = sharedParts(versions);
  const tolerated = toleratedIn(old?.versions.flatMap(({ schema }) => schema?.openAPIV3Schema ?? []) ?? []);
  const change = { versions, shared, tolerated, old };
  const [first] = versions;
  return [
    ...groupErrors(spec),
    ...missingSchemaErrors(spec, change),
    ...versions.flatMap((version, i) => versionErrors(version, `spec.versions[${i}]`, change)),
    ...versionsErrors(spec, change),
    // The name of the first version is also the deprecated `spec.version`.
    ...(first?.name ? nameErrors(first.name, "spec.version") : []),
    ...namesErrors(spec.names, "spec.names", true),
    ...(first === undefined ? [] : [...commonErrors(first, change), ...conversionErrors(spec)]),
  ];
}

function versionErrors(version: DefinitionVersion, path: string, change: Change): FieldError[] {
  const { versions, shared, tolerated, old } = change;
  const before = old?.versions.find(({ name }) => name === version.name);
  const parts = ownParts(version, shared);
  const subresources = shared.subresources ? versions[0]?.subresources : version.subresources;
  const isUnchanged = before !== undefined && equal(before.schema, version.schema);
  const keepsFields = before !== undefined && equal(before.selectableFields, version.selectableFields);
  return [
    ...nameErrors(version.name ?? "", `${path}.name`),
    ...warningErrors(version, `${path}.deprecationWarning`),
    ...(parts.schema?.openAPIV3Schema === undefined ? [] : schemaErrors(
      parts.schema.openAPIV3Schema,
      `${path}.schema.openAPIV3Schema`,
      { hasStatus: subresources?.status !== undefined, isUnchanged, tolerated },
    )),
    ...partsErrors(parts, path, keepsFields),
  ];
}

/** Returns the errors of the parts that all versions share. */
function commonErrors(first: DefinitionVersion, { versions, shared, tolerated, old }: Change): FieldError[] {
  const parts = commonParts(first, shared);
  const before = old?.versions.find(({ name }) => name === first.name);
  const isUnchanged = before !== undefined && equal(before.schema, first.schema);
  const keepsFields = old?.versions.every((each) => equal(each.selectableFields, first.selectableFields)) ?? false;
  const hasStatus = versions.some(({ subresources }) => subresources?.status !== undefined);
  return [
    ...(parts.schema?.openAPIV3Schema === undefined ? [] : schemaErrors(
      parts.schema.openAPIV3Schema,
      "spec.validation.openAPIV3Schema",
      { hasStatus, isUnchanged, tolerated },
    )),
    ...partsErrors(parts, "spec", keepsFields),
  ];
}

/**
 * Returns the errors that concern the list of versions: duplicate names and the number of storage
 * versions.
 */
function versionsErrors(spec: DefinitionSpec, { versions, shared }: Change): FieldError[] {
  const errors: FieldError[] = [];
  if (new Set(versions.map(({ name }) => name)).size < versions.length) {
    errors.push(versionsError(spec.versions, shared, "must contain unique version names"));
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    errors.push(versionsError(spec.versions, shared, "must have exactly one version marked as storage version"));
  }
  return errors;
}

type Parts = Pick<DefinitionVersion, "schema" | "subresources" | "additionalPrinterColumns" | "selectableFields">;

/**
 * Returns the parts that differ between versions. The real server moves shared parts to the spec.
 */
function ownParts(version: DefinitionVersion, shared: SharedParts): Parts {
  const keys = (Object.keys(shared) as (keyof SharedParts)[]).filter((key) => !shared[key]);
  return Object.fromEntries(keys.map((key) => [key, version[key]]));
}

function commonParts(version: DefinitionVersion, shared: SharedParts): Parts {
  const keys = (Object.keys(shared) as (keyof SharedParts)[]).filter((key) => shared[key]);
  return Object.fromEntries(keys.map((key) => [key, version[key]]));
}

function versionsError(versions: readonly DefinitionVersion[] | null, shared: SharedParts, detail: string): FieldError {
  return {
    ...invalid("spec.versions", "", detail),
    message: `Invalid value: ${quotedVersions(versions, shared)}: ${detail}`,
  };
}

function groupErrors({ group, scope }: DefinitionSpec): FieldError[] {
  const errors: FieldError[] = [];
  const groupProblems = group ? subdomainErrors(group) : [];
  if (!group) errors.push(required("spec.group"));
  else if (groupProblems.length > 0) errors.push(invalid("spec.group", group, groupProblems.join(",")));
  else if (!group.includes(".")) errors.push(invalid("spec.group", group, "should be a domain with at least one dot"));
  if (!scope) errors.push(required("spec.scope"));
  else if (scope !== "Cluster" && scope !== "Namespaced") {
    errors.push(notSupported("spec.scope", scope, ["Cluster", "Namespaced"]));
  }
  return errors;
}

/** Checks that each version has a schema. */
function missingSchemaErrors(
  { preserveUnknownFields }: DefinitionSpec,
  { versions, shared }: Change,
): FieldError[] {
  const errors: FieldError[] = [];
  const isCommon = shared.schema && versions[0]?.schema?.openAPIV3Schema !== undefined;
  if (!isCommon) {
    versions.forEach(({ schema }, i) => {
      if (!shared.schema && schema?.openAPIV3Schema !== undefined) return;
      errors.push(required(`spec.versions[${i}].schema.openAPIV3Schema`));
    });
  }
  const hasDefaults = versions.some(({ schema }) => containsDefault(schema?.openAPIV3Schema));
  if (preserveUnknownFields === true && hasDefaults) {
    const detail = "must be false in order to use defaults in the schema";
    errors.push(invalid("spec.preserveUnknownFields", true, detail));
  }
  return errors;
}

function containsDefault(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(containsDefault);
  if (!isObject(schema)) return false;
  return own(schema, "default") !== undefined || Object.values(schema).some(containsDefault);
}

function nameErrors(name: string, field: string): FieldError[] {
  const problems = label1035Errors(name);
  return problems.length === 0 ? [] : [invalid(field, name, problems.join(","))];
}

const MAX_WARNING = 256; // bytes
// Matches characters that are not printable in Go: all except letters, marks, numbers, punctuation,
// symbols and the space.
const UNPRINTABLE = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;

function warningErrors({ deprecated, deprecationWarning: warning }: DefinitionVersion, field: string): FieldError[] {
  if (warning === undefined) return [];
  const error = (detail: string) => ({
    ...invalid(field, "", detail),
    message: `Invalid value: ${goJson(warning)}: ${detail}`,
  });
  if (!deprecated) return [error("can only be set for deprecated versions")];
  const errors: FieldError[] = [];
  const bytes = (text: string) => new TextEncoder().encode(text).length;
  if (bytes(warning) > MAX_WARNING) errors.push(error(`must be <= ${MAX_WARNING} characters long`));
  if (warning === "") errors.push(error("must not be an empty string"));
  const found = UNPRINTABLE.exec(warning);
  if (found !== null) {
    const index = bytes(warning.slice(0, found.index));
    errors.push(
      error(`must only contain printable UTF-8 characters; non-printable character found at index ${index}`),
    );
  }
  return errors;
}

/**
 * Returns the errors of the names of a definition.
 *
 * @param names The names.
 * @param path Path of the names.
 * @param areRequired Whether all names are required.
 */
export function namesErrors(
  names: Partial<DefinitionNames> | undefined,
  path: string,
  areRequired = false,
): FieldError[] {
  const { plural = "", singular = "", kind = "", listKind = "", shortNames = [], categories = [] } = names ?? {};
  const errors: FieldError[] = [];
  for (const [key, name] of Object.entries({ plural, singular, kind, listKind })) {
    if (areRequired && name === "") errors.push(required(`${path}.${key}`));
  }
  for (const [key, name] of Object.entries({ plural, singular })) {
    if (name !== "") errors.push(...nameErrors(name, `${path}.${key}`));
  }
  for (const [key, name] of Object.entries({ kind, listKind })) {
    const problems = name === "" ? [] : label1035Errors(name.toLowerCase());
    if (problems.length === 0) continue;
    const text = `may have mixed case, but should otherwise match: ${problems.join(",")}`;
    errors.push(invalid(`${path}.${key}`, name, text));
  }
  shortNames.forEach((name, i) => errors.push(...nameErrors(name, `${path}.shortNames[${i}]`)));
  if (kind !== "" && kind === listKind) {
    errors.push(invalid(`${path}.listKind`, listKind, "kind and listKind may not be the same"));
  }
  categories.forEach((name, i) => errors.push(...nameErrors(name, `${path}.categories[${i}]`)));
  return errors;
}

/**
 * Returns the errors of subresources, columns and selectable fields.
 *
 * @param parts The parts.
 * @param path Path of the parts: a version, or the spec if all versions share them.
 * @param toleratesMany Whether to accept too many selectable fields, because they do not change.
 */
function partsErrors(parts: Parts, path: string, toleratesMany: boolean): FieldError[] {
  const { schema, subresources, additionalPrinterColumns = [], selectableFields = [] } = parts;
  const errors = scaleErrors(subresources?.scale, `${path}.subresources.scale`);
  additionalPrinterColumns.forEach((column, i) => {
    errors.push(...columnErrors(column, `${path}.additionalPrinterColumns[${i}]`));
  });
  if (selectableFields.length === 0) return errors;
  if (schema?.openAPIV3Schema === undefined) {
    // These are the messages of the real server. It uses them even if the schema exists, but is
    // shared by all versions or belongs to one.
    const detail = path === "spec"
      ? "may only be set when validations.schema is included"
      : "may only be set when `version.schema.openAPIV3Schema` is not included";
    return [...errors, invalid(`${path}.selectableFields`, "", detail)];
  }
  const fieldsPath = `${path}.selectableFields`;
  return [...errors, ...selectableErrors(selectableFields, schema.openAPIV3Schema, fieldsPath, toleratesMany)];
}

function scaleErrors(scale: DeclaredScale | undefined, path: string): FieldError[] {
  if (scale === undefined) return [];
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale;
  const errors: FieldError[] = [];
  const check = (key: string, value: string, roots: readonly string[], parent: string) => {
    if (!value.startsWith(".")) {
      errors.push(invalid(`${path}.${key}`, value, "must be a simple json path starting with ."));
    } else if (!roots.some((root) => value.startsWith(root))) {
      errors.push(invalid(`${path}.${key}`, value, `should be a json path under ${parent}`));
    }
  };
  if (!specReplicasPath) errors.push(required(`${path}.specReplicasPath`));
  else check("specReplicasPath", specReplicasPath, [".spec."], ".spec");
  if (!statusReplicasPath) errors.push(required(`${path}.statusReplicasPath`));
  else check("statusReplicasPath", statusReplicasPath, [".status."], ".status");
  if (labelSelectorPath) {
    check("labelSelectorPath", labelSelectorPath, [".spec.", ".status."], "either .spec or .status");
  }
  return errors;
}

const COLUMN_TYPES = ["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

function columnErrors({ name, type, format, jsonPath }: DeclaredColumn, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!name) errors.push(required(`${path}.name`));
  const types = `must be one of ${COLUMN_TYPES.join(",")}`;
  if (!type) errors.push(required(`${path}.type`, types));
  else if (!COLUMN_TYPES.includes(type)) errors.push(invalid(`${path}.type`, type, types));
  if (format && !COLUMN_FORMATS.includes(format)) {
    errors.push(invalid(`${path}.format`, format, `must be one of ${COLUMN_FORMATS.join(",")}`));
  }
  // The real server accepts a malformed path, and then omits the column from tables.
  if (!jsonPath) errors.push(required(`${path}.JSONPath`));
  else if (!jsonPath.startsWith(".")) {
    errors.push(invalid(`${path}.JSONPath`, jsonPath, "must be a simple json path starting with ."));
  }
  return errors;
}

const MAX_SELECTABLE = 8;

function selectableErrors(
  fields: readonly { readonly jsonPath: string }[],
  schema: JsonSchema,
  path: string,
  toleratesMany: boolean,
): FieldError[] {
  const errors: FieldError[] = [];
  const known = new Set<string>();
  fields.forEach(({ jsonPath }, i) => {
    const field = `${path}[${i}].jsonPath`;
    if (!jsonPath) return errors.push(required(field));
    let target: FieldTarget;
    try {
      target = fieldTarget(jsonPath, schema, { brackets: false });
    } catch (error) {
      return errors.push(invalid(field, jsonPath, `is an invalid path: ${(error as Error).message}`));
    }
    if (target.root === "metadata") errors.push(invalid(field, jsonPath, "must not point to fields in metadata"));
    if (!["string", "boolean", "integer"].includes(target.schema?.type ?? "")) {
      const detail = "must point to a field of type string, boolean or integer. Enum string fields and strings with " +
        "formats are allowed.";
      errors.push(invalid(field, jsonPath, detail));
    }
    if (known.has(target.field)) errors.push(duplicate(field, jsonPath));
    return known.add(target.field);
  });
  if (known.size > MAX_SELECTABLE && !toleratesMany) errors.push(tooMany(path, known.size, MAX_SELECTABLE));
  return errors;
}

/**
 * Returns the errors of changes to the group and plural name, and of changes to scope and kind once
 * the definition is established.
 */
function immutableErrors(next: DefinitionSpec, old: StoredObject): FieldError[] {
  const before = old.spec as DefinitionSpec;
  const { conditions } = old.status as DefinitionStatus;
  const isEstablished = conditions?.some(({ type, status }) => type === "Established" && status === "True") ?? false;
  const errors: FieldError[] = [];
  const check = (field: string, a: unknown, b: unknown) => {
    if (!equal(a, b)) errors.push(invalid(field, a, "field is immutable"));
  };
  if (isEstablished) {
    check("spec.scope", next.scope, before.scope);
    check("spec.names.kind", next.names?.kind, before.names.kind);
  }
  check("spec.group", next.group, before.group);
  check("spec.names.plural", next.names?.plural, before.names.plural);
  return errors;
}

/** Checks that each version in which objects may be stored is still defined. */
function storedVersionsErrors(stored: readonly string[], versions: readonly DefinitionVersion[]): FieldError[] {
  const field = "status.storedVersions";
  if (stored.length === 0) return [invalid(field, null, "must have at least one stored version")];
  const errors = versions.filter(({ name, storage }) => storage && !stored.includes(name))
    .map(({ name }) => invalid(field, stored, `must have the storage version ${name}`));
  stored.forEach((name, i) => {
    if (versions.some((version) => version.name === name)) return;
    const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in ` +
      `spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from ` +
      "status.storedVersions";
    errors.push(invalid(`${field}[${i}]`, name, detail));
  });
  return errors;
}

const APPROVED = "api-approved.kubernetes.io";

/**
 * Checks the approval annotation, which is required in groups of the Kubernetes community
 * (`*.k8s.io` and `*.kubernetes.io`).
 */
function approvalErrors(group: string, next: StoredObject, old: StoredObject | undefined): FieldError[] {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group)) return [];
  const state = approvalOf(next);
  if (old !== undefined && approvalOf(old) === state) return [];
  const field = `metadata.annotations[${APPROVED}]`;
  const detail = `protected groups must have approval annotation "${APPROVED}"`;
  const link = "see https://github.com/kubernetes/enhancements/pull/1111";
  if (state === "missing") return [required(field, `${detail}, ${link}`)];
  if (state === "approved") return [];
  const given = next.metadata.annotations?.[APPROVED] ?? "";
  return [invalid(field, given, `${detail} with either a URL or a reason starting with "unapproved", ${link}`)];
}

function approvalOf({ metadata }: StoredObject): "missing" | "approved" | "invalid" {
  const text = metadata.annotations?.[APPROVED] ?? "";
  if (text === "") return "missing";
  if (text.startsWith("unapproved")) return "approved";
  return /^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/\s]/.test(text) && URL.canParse(text) ? "approved" : "invalid";
}

function preserveUnknownFieldsErrors(
  { preserveUnknownFields }: DefinitionSpec,
  old: DefinitionSpec | undefined,
): FieldError[] {
  if (old?.preserveUnknownFields || !preserveUnknownFields) return [];
  const detail =
    "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
  return [invalid("spec.preserveUnknownFields", true, detail)];
}
