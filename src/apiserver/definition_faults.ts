/** What is wrong with a CustomResourceDefinition (`k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation`, `.../pkg/apiserver/schema`). */
import { equal, isObject } from "../base/json.ts";
import { own } from "../base/own.ts";
import { type FieldError, forbidden, invalid, notSupported, required } from "../schema/field_error.ts";
import type { JsonSchema } from "../schema/json_schema.ts";
import { regularExpression, validate } from "../schema/validate.ts";
import type { DefinitionSpec, DefinitionVersion } from "./crd.ts";
import { jsonPath } from "./json_path.ts";
import { label1035Faults, labelFaults, subdomainFaults } from "./names.ts";
import type { StoredObject } from "./objects.ts";

/**
 * What is wrong with a definition.
 *
 * @param definition The definition.
 * @param _old What it was; absent when it is new.
 */
export function definitionFaults(definition: StoredObject, _old?: StoredObject): FieldError[] {
  const spec = definition.spec as DefinitionSpec | undefined;
  if (spec === undefined) return [required("spec")];
  const faults: FieldError[] = [];
  const name = `${spec.names?.plural ?? ""}.${spec.group ?? ""}`;
  if (definition.metadata.name !== name) {
    faults.push(invalid("metadata.name", definition.metadata.name, `must be spec.names.plural+"."+spec.group`));
  }
  faults.push(...groupFaults(spec), ...versionsFaults(spec), ...namesFaults(spec));
  const versions = spec.versions ?? [];
  // What all versions share is looked at once, and named so.
  const [first] = versions;
  const isShared = first !== undefined && versions.every(({ schema }) => equal(schema, first.schema));
  versions.forEach((version, i) => faults.push(...versionFaults(version, `spec.versions[${i}]`)));
  if (isShared) faults.push(...rootFaults(first, "spec.validation.openAPIV3Schema"));
  else {versions.forEach((version, i) =>
      faults.push(...rootFaults(version, `spec.versions[${i}].schema.openAPIV3Schema`))
    );}
  return faults;
}

function groupFaults({ group, scope }: DefinitionSpec): FieldError[] {
  const faults: FieldError[] = [];
  if (!group) faults.push(required("spec.group"));
  else if (subdomainFaults(group).length > 0) {
    faults.push(...subdomainFaults(group).map((fault) => invalid("spec.group", group, fault)));
  } else if (!group.includes(".")) {
    faults.push(invalid("spec.group", group, "should be a domain with at least one dot"));
  }
  if (!scope) faults.push(required("spec.scope"));
  else if (scope !== "Cluster" && scope !== "Namespaced") {
    faults.push(notSupported("spec.scope", scope, ["Cluster", "Namespaced"]));
  }
  return faults;
}

function versionsFaults({ versions = [] }: DefinitionSpec): FieldError[] {
  const faults: FieldError[] = [];
  const names = versions.map(({ name }) => name);
  if (new Set(names).size < names.length) {
    faults.push(invalid("spec.versions", versions, "must contain unique version names"));
  }
  for (const [i, name] of names.entries()) {
    faults.push(...label1035Faults(name).map((fault) => invalid(`spec.versions[${i}].name`, name, fault)));
  }
  const stored = versions.filter(({ storage }) => storage);
  if (stored.length !== 1) {
    faults.push(
      invalid("spec.versions", versions.map(goVersion), "must have exactly one version marked as storage version"),
    );
    faults.push(storedFault(stored.map(({ name }) => name)));
  }
  if (versions.length === 0) faults.push(required("spec.versions", "must have at least one version"));
  return faults;
}

/** The server's own status cannot be right either when it is not clear which version is stored. */
function storedFault(names: readonly string[]): FieldError {
  const [first, second] = names;
  const field = "status.storedVersions";
  if (first === undefined) return invalidNull(field, "must have at least one stored version");
  return invalid(field, [first], `must have the storage version ${second}`);
}

function invalidNull(field: string, detail: string): FieldError {
  return { reason: "FieldValueInvalid", field, message: `Invalid value: null: ${detail}` };
}

/** A version as Go prints it. Schema and columns that all versions share are not in it. */
function goVersion({ name, served, storage, deprecated, deprecationWarning }: DefinitionVersion): unknown {
  return {
    Name: name,
    Served: served,
    Storage: storage,
    Deprecated: deprecated ?? false,
    DeprecationWarning: deprecationWarning ?? null,
    Schema: null,
    Subresources: null,
    AdditionalPrinterColumns: null,
    SelectableFields: null,
  };
}

function namesFaults({ names }: DefinitionSpec): FieldError[] {
  const faults: FieldError[] = [];
  const { plural = "", singular = "", kind = "", listKind = "", shortNames = [], categories = [] } = names ?? {};
  if (plural === "") faults.push(required("spec.names.plural"));
  else faults.push(...label1035Faults(plural).map((fault) => invalid("spec.names.plural", plural, fault)));
  if (singular !== "") {
    faults.push(...label1035Faults(singular).map((fault) => invalid("spec.names.singular", singular, fault)));
  }
  if (kind === "") faults.push(required("spec.names.kind"));
  else {
    const text = "may have mixed case, but should otherwise match: ";
    faults.push(...label1035Faults(kind.toLowerCase()).map((fault) => invalid("spec.names.kind", kind, text + fault)));
  }
  if (listKind === kind && kind !== "") {
    faults.push(invalid("spec.names.listKind", listKind, "kind and listKind may not be the same"));
  }
  shortNames.forEach((name, i) =>
    faults.push(...labelFaults(name).map((fault) => invalid(`spec.names.shortNames[${i}]`, name, fault)))
  );
  categories.forEach((name, i) =>
    faults.push(...labelFaults(name).map((fault) => invalid(`spec.names.categories[${i}]`, name, fault)))
  );
  return faults;
}

/** What is wrong with the schema of a version. */
function rootFaults(version: DefinitionVersion, path: string): FieldError[] {
  const schema = version.schema?.openAPIV3Schema;
  if (schema === undefined) return [];
  const faults: FieldError[] = [];
  if (schema.type === undefined) faults.push(required(`${path}.type`, "must not be empty at the root"));
  else if (schema.type !== "object") faults.push(invalid(`${path}.type`, schema.type, "must be object at the root"));
  return [...faults, ...schemaFaults(schema, path, true)];
}

function versionFaults(version: DefinitionVersion, field: string): FieldError[] {
  const faults: FieldError[] = [];
  if (version.schema?.openAPIV3Schema === undefined) faults.push(required(`${field}.schema.openAPIV3Schema`));
  (version.additionalPrinterColumns ?? []).forEach((column, i) => {
    const at = `${field}.additionalPrinterColumns[${i}]`;
    if (!column.name) faults.push(required(`${at}.name`));
    if (!TYPES_OF_COLUMNS.includes(column.type)) {
      faults.push(invalid(`${at}.type`, column.type, `must be one of ${TYPES_OF_COLUMNS.join(",")}`));
    }
    if (!column.jsonPath) faults.push(required(`${at}.jsonPath`));
    else if (!isPath(column.jsonPath)) faults.push(invalid(`${at}.jsonPath`, column.jsonPath, "is an invalid path"));
  });
  return faults;
}

const TYPES_OF_COLUMNS = ["integer", "number", "string", "boolean", "date"];

function isPath(path: string): boolean {
  try {
    jsonPath(path);
    return true;
  } catch {
    return false;
  }
}

const TYPES = new Set(["integer", "number", "string", "boolean", "array", "object"]);

/** What is wrong with a schema and those in it: it must say the type of each part, and hold no rule that cannot be met. */
function schemaFaults(schema: JsonSchema, path: string, isRoot: boolean): FieldError[] {
  const faults: FieldError[] = [];
  const isIntOrString = schema["x-kubernetes-int-or-string"] === true;
  const keepsUnknown = schema["x-kubernetes-preserve-unknown-fields"] === true;
  if (schema.type === undefined && !isIntOrString && !keepsUnknown && !isRoot) {
    faults.push(required(`${path}.type`, "must not be empty for specified object fields"));
  } else if (schema.type !== undefined && !TYPES.has(schema.type)) {
    faults.push(notSupported(`${path}.type`, schema.type, [...TYPES].sort()));
  }
  if (schema.type === "array" && schema.items === undefined) {
    faults.push(required(`${path}.items`, "must be specified"));
  }
  if (schema.properties !== undefined && isObject(schema.additionalProperties)) {
    faults.push(
      forbidden(`${path}.additionalProperties`, "additionalProperties and properties are mutual exclusive"),
    );
  }
  if (schema.additionalProperties === false) {
    faults.push(forbidden(`${path}.additionalProperties`, "additionalProperties cannot be set to false"));
  }
  if (schema.uniqueItems) {
    faults.push(
      forbidden(
        `${path}.uniqueItems`,
        "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
      ),
    );
  }
  faults.push(...patternFaults(schema, path), ...listFaults(schema, path), ...defaultFaults(schema, path, isRoot));
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    if (isRoot && (key === "metadata" || key === "apiVersion" || key === "kind")) continue;
    faults.push(...schemaFaults(property, `${path}.properties[${key}]`, false));
  }
  if (isObject(schema.additionalProperties)) {
    faults.push(...schemaFaults(schema.additionalProperties, `${path}.additionalProperties`, false));
  }
  if (schema.items !== undefined) faults.push(...schemaFaults(schema.items, `${path}.items`, false));
  return faults;
}

function patternFaults({ pattern }: JsonSchema, path: string): FieldError[] {
  if (pattern === undefined) return [];
  try {
    regularExpression(pattern);
    return [];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [invalid(`${path}.pattern`, pattern, `must be a valid regular expression, but isn't: ${why}`)];
  }
}

function listFaults(schema: JsonSchema, path: string): FieldError[] {
  const type = schema["x-kubernetes-list-type"];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const faults: FieldError[] = [];
  if (type !== undefined && schema.type !== "array") {
    faults.push(invalid(`${path}.type`, schema.type ?? "", "must be array if x-kubernetes-list-type is specified"));
  }
  if (type !== "map") {
    if (keys.length === 0) return faults;
    return [
      ...faults,
      invalid(`${path}.x-kubernetes-list-type`, type ?? "", "must be map if x-kubernetes-list-map-keys is non-empty"),
    ];
  }
  if (keys.length === 0) {
    faults.push(required(`${path}.x-kubernetes-list-map-keys`, "must not be empty if x-kubernetes-list-type is map"));
  }
  if (schema.items?.type !== "object") {
    faults.push(
      invalid(
        `${path}.items.type`,
        schema.items?.type ?? "",
        "must be object if parent array's x-kubernetes-list-type is map",
      ),
    );
  }
  for (const key of keys) {
    const property = own(schema.items?.properties, key);
    if (property === undefined) {
      faults.push(invalid(`${path}.x-kubernetes-list-map-keys`, key, "entries must all be names of item properties"));
    } else if (property.default === undefined && !schema.items?.required?.includes(key)) {
      const why = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
      faults.push(required(`${path}.items.properties[${key}].default`, why));
    }
  }
  return faults;
}

function defaultFaults(schema: JsonSchema, path: string, isRoot: boolean): FieldError[] {
  if (schema.default === undefined) return [];
  if (isRoot) return [forbidden(`${path}.default`, "must not be set")];
  return validate(schema, schema.default).map((fault) => ({
    ...fault,
    field: fault.field === "<nil>" ? `${path}.default` : `${path}.default.${fault.field}`,
  }));
}
