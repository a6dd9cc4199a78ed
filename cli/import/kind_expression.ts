/** Writes a version of a kind as a call of `resource()`. */
import { columnSchema, columnType, CONDITIONS, equal, OBSERVED_GENERATION, pluralOf } from "../internal/mod.gen.ts";
import type { JsonSchema } from "@op/sdk/resource";
import type { DefinedColumn, DefinedVersion, Definition } from "../definitions/definition.ts";
import { undescribed } from "./descriptions.ts";
import { call, type CallExpression, type Expression, literal, nameOf, prose, record } from "./expression.ts";
import { sameSchema } from "./normal_form.ts";
import { optionsOf } from "./options_of.ts";
import type { SchemaUse } from "./schema_index.ts";

/** The schemas of a version. */
export interface KindSchemas {
  readonly spec?: SchemaUse;
  /** Without the fields that the SDK adds. */
  readonly status?: SchemaUse;
  /** Keywords and properties of the root that `resource()` does not add itself. */
  readonly root?: SchemaUse;
  /**
   * Whether `status` omits the conditions and the observed generation, because the SDK adds them to
   * every status.
   */
  readonly omitsConditions: boolean;
}

/**
 * Returns the schemas of a version.
 *
 * @param kind The kind, for paths.
 * @param version The version.
 */
export function kindSchemas(kind: string, version: DefinedVersion): KindSchemas {
  const root = version.schema.openAPIV3Schema;
  const { spec, status } = root.properties ?? {};
  const isSpec = spec?.type === "object";
  // The SDK makes every field of a status optional. Another status remains in the root.
  const isLoose = status?.required === undefined && root.required?.includes("status") !== true;
  const isStatus = status?.type === "object" && isLoose && hasSubresource(version);
  const own = isStatus ? withoutConditions(status) : undefined;
  const rest = rootKeywords(root, [...(isSpec ? ["spec"] : []), ...(isStatus ? ["status"] : [])]);
  return {
    ...(isSpec && { spec: { schema: spec, path: [kind, "spec"] } }),
    ...(isStatus && { status: { schema: own ?? status, path: [kind, "status"] } }),
    ...(rest && { root: { schema: rest, path: [kind] } }),
    omitsConditions: own !== undefined,
  };
}

function hasSubresource({ subresources }: DefinedVersion): boolean {
  return subresources?.status !== undefined;
}

/**
 * Returns the root schema without its description, its rules, and the properties that are handled
 * separately. Returns `undefined` if that leaves no keywords.
 */
function rootKeywords(root: JsonSchema, handled: readonly string[]): JsonSchema | undefined {
  const { description: _, properties = {}, required = [], "x-kubernetes-validations": __, ...keywords } = root;
  const remaining = Object.entries(properties).filter(([name, schema]) =>
    !handled.includes(name) && !isKnown(name, schema)
  );
  const names = remaining.map(([name]) => name);
  const rest: JsonSchema = {
    ...keywords,
    ...(remaining.length > 0 && { properties: Object.fromEntries(remaining) }),
    // Every object has the other names, or the kind requires them.
    required: required.filter((name) => !handled.includes(name) && !Object.hasOwn(OBJECT_FIELDS, name)),
  };
  const { type: ___, ...own } = rest.required?.length === 0 ? without(rest, "required") : rest;
  return names.length === 0 && Object.keys(own).length === 0 ? undefined : { type: "object", ...own };
}

function without(schema: JsonSchema, key: "required"): JsonSchema {
  const { [key]: _, ...rest } = schema;
  return rest;
}

const OBJECT_FIELDS: Readonly<Record<string, string>> = { apiVersion: "string", kind: "string", metadata: "object" };

/** Returns whether a property is the same in every object. */
function isKnown(name: string, schema: JsonSchema): boolean {
  return Object.hasOwn(OBJECT_FIELDS, name) && equal(undescribed(schema), { type: OBJECT_FIELDS[name] });
}

/**
 * Returns a status without the fields that the SDK adds, or `undefined` if it does not have them.
 */
function withoutConditions(status: JsonSchema): JsonSchema | undefined {
  const { conditions, observedGeneration, ...properties } = status.properties ?? {};
  if (conditions === undefined || observedGeneration === undefined) return undefined;
  const isAdded = sameSchema(undescribed(conditions), CONDITIONS) &&
    sameSchema(undescribed(observedGeneration), OBSERVED_GENERATION);
  return isAdded ? { ...status, properties } : undefined;
}

/** Inputs of {@linkcode kindExpression} in addition to the definition. */
export interface KindParts {
  readonly version: DefinedVersion;
  readonly schemas: KindSchemas;
  /** Returns a schema as TypeScript. */
  write(use: SchemaUse): Expression;
  /** Names of the other versions, if this is the stored one. */
  readonly others: readonly string[];
  /** Whether the spec is optional. */
  readonly optionalSpec: boolean;
  /** Whether the operator owns the CustomResourceDefinition. Otherwise the kind is `external`. */
  readonly own: boolean;
}

/**
 * Returns a version of a kind as a call of `resource()`.
 *
 * @param definition The definition.
 * @param parts The version, and its schemas as they were written.
 */
export function kindExpression(definition: Definition, parts: KindParts): CallExpression {
  const { version, schemas, others, optionalSpec, own } = parts;
  const { group, names, scope } = definition.spec;
  const { description, "x-kubernetes-validations": rules } = version.schema.openAPIV3Schema;
  const { kind, plural, singular, listKind, shortNames = [], categories = [] } = names;
  const { spec, status, root } = schemas;
  const validations = rules && optionsOf({ "x-kubernetes-validations": rules }, [])?.entries[0]?.[1];
  const options = record({
    group: literal(group),
    version: literal(version.name),
    kind: literal(kind),
    external: own ? undefined : literal(true),
    plural: unlessDefault(plural, pluralOf(kind)),
    singular: unlessDefault(singular, kind.toLowerCase()),
    listKind: unlessDefault(listKind, `${kind}List`),
    // Properties of the kind are written once, with the stored version.
    shortNames: version.storage && shortNames.length > 0 ? literal(shortNames) : undefined,
    categories: version.storage && categories.length > 0 ? literal(categories) : undefined,
    scope: unlessDefault(scope, "Namespaced"),
    labels: version.storage ? withoutToolMetadata(definition.metadata.labels) : undefined,
    annotations: withoutToolMetadata(
      version.storage ? definition.metadata.annotations : approvalAnnotation(definition),
    ),
    description: description === undefined || description === "" ? undefined : prose(description),
    deprecated: version.deprecated === true ? literal(version.deprecationWarning ?? true) : undefined,
    served: version.served ? undefined : literal(false),
    columns: columns(version),
    scale: scale(version),
    selectableFields: version.selectableFields && literal(version.selectableFields.map(({ jsonPath }) => jsonPath)),
    validations,
    spec: spec && (optionalSpec ? call("s.optional", parts.write(spec)) : parts.write(spec)),
    status: status ? parts.write(status) : hasSubresource(version) ? literal(true) : undefined,
    conditions: status === undefined || schemas.omitsConditions ? undefined : literal(false),
    root: root && parts.write(root),
    versions: others.length > 0 ? { type: "list", items: others.map(nameOf) } : undefined,
  });
  return call("resource", options);
}

function unlessDefault(value: string | undefined, defaultValue: string): Expression | undefined {
  return value === undefined || value === defaultValue ? undefined : literal(value);
}

const APPROVAL = "api-approved.kubernetes.io";

/** Returns the approval annotation, which every version of a community kind requires. */
function approvalAnnotation({ metadata: { annotations = {} } }: Definition): { readonly [key: string]: string } {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => key === APPROVAL));
}

/** Annotations and labels that tools add to the objects that they install. */
const TOOL_METADATA =
  /^(?:controller-gen\.kubebuilder\.io\/|kubectl\.kubernetes\.io\/|meta\.helm\.sh\/|helm\.sh\/|app\.kubernetes\.io\/managed-by$)/;

/** Labels that old Helm charts add. They belong to Helm only if `heritage` is among them. */
const HELM_LABELS: readonly string[] = ["heritage", "chart", "release"];

function withoutToolMetadata(map: { readonly [key: string]: string } = {}): Expression | undefined {
  const isHelmLabel = (key: string) => map.heritage !== undefined && HELM_LABELS.includes(key);
  const entries = Object.entries(map).filter(([key]) => !TOOL_METADATA.test(key) && !isHelmLabel(key));
  return entries.length === 0 ? undefined : literal(Object.fromEntries(entries));
}

/** Returns columns with a valid path. The SDK rejects others, which show no value. */
function columns({ additionalPrinterColumns: given = [], schema }: DefinedVersion): Expression | undefined {
  const root = schema.openAPIV3Schema;
  const entries = given.flatMap((column): [string, Expression][] => {
    const target = columnTarget(column.jsonPath, root);
    return target === undefined ? [] : [[column.name, columnExpression(column, columnType(target))]];
  });
  return entries.length === 0 ? undefined : { type: "record", entries };
}

function columnTarget(path: string, root: JsonSchema): JsonSchema | undefined {
  try {
    return columnSchema(path, root);
  } catch {
    return undefined;
  }
}

/** Returns only the path if the column has no other properties. */
function columnExpression(column: DefinedColumn, defaultValue: string): Expression {
  const { jsonPath, type, format, priority = 0, description } = column;
  const path = literal(jsonPath);
  const options = record({
    path,
    type: unlessDefault(type, defaultValue),
    format: format === undefined || format === "" ? undefined : literal(format),
    priority: priority === 0 ? undefined : literal(priority),
    description: description === undefined || description === "" ? undefined : prose(description),
  });
  return options.entries.length === 1 ? path : options;
}

function scale({ subresources }: DefinedVersion): Expression | undefined {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = subresources?.scale ?? {};
  if (specReplicasPath === undefined || statusReplicasPath === undefined) return undefined;
  return record({
    specReplicas: literal(specReplicasPath),
    statusReplicas: literal(statusReplicasPath),
    labelSelector: labelSelectorPath === undefined ? undefined : literal(labelSelectorPath),
  });
}
