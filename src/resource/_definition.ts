/** Builds the CustomResourceDefinition of one version of a kind. */
import { isObject } from "../base/json.ts";
import { marksOf } from "../schema/_seal.ts";
import { normalSchema } from "../schema/go_schema.ts";
import type { JsonSchema, ValidationRule } from "../schema/mod.ts";
import { type Columns, printerColumns } from "./columns.ts";
import { CONDITIONS, OBSERVED_GENERATION } from "./conditions.ts";
import type { CustomResourceDefinitionManifest, DefinitionVersion } from "./kind.ts";
import type { Names } from "./_names.ts";
import { declarationChecks } from "./_load_declaration_checks.ts";
import { rejectKind } from "./_kind_error.ts";
import { checkTree } from "./_tree.ts";
import { type Scale, scaleOf } from "./scale.ts";
import { selectableFields } from "./selectable_fields.ts";

/** The contents of a definition other than its names. */
export interface DefinitionOptions {
  readonly scope?: "Namespaced" | "Cluster";
  readonly description?: string;
  readonly spec?: JsonSchema;
  /** `true` declares the subresource; `root` may then declare the schema of the status. */
  readonly status?: JsonSchema | true;
  readonly conditions?: boolean;
  readonly root?: JsonSchema;
  readonly validations?: readonly ValidationRule[];
  readonly columns?: Columns;
  readonly scale?: Scale;
  readonly selectableFields?: readonly string[];
  readonly served?: boolean;
  readonly deprecated?: boolean | string;
  readonly labels?: { readonly [key: string]: string };
  readonly annotations?: { readonly [key: string]: string };
}

const SCOPES: readonly string[] = ["Namespaced", "Cluster"];

/**
 * Builds the definition.
 *
 * @param names The names.
 * @param options The other contents.
 * @throws {TypeError} If an API server would reject it.
 */
export function definition(names: Names, options: DefinitionOptions): CustomResourceDefinitionManifest {
  const { group, kind, plural, singular, listKind, shortNames, categories } = names;
  const { scope = "Namespaced", labels = {}, annotations = {} } = options;
  if (!SCOPES.includes(scope)) {
    rejectKind(kind, `"scope" must be one of ${SCOPES.map((one) => `"${one}"`).join(", ")}, got "${scope}"`);
  }
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${plural}.${group}`,
      ...(Object.keys(labels).length > 0 && { labels }),
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
    spec: {
      group,
      names: {
        kind,
        plural,
        singular,
        listKind,
        ...(shortNames.length > 0 && { shortNames }),
        ...(categories.length > 0 && { categories }),
      },
      scope,
      versions: [versionOf(names, options)],
    },
  };
}

function versionOf({ kind, version }: Names, options: DefinitionOptions): DefinitionVersion {
  const { status, columns = {}, scale, selectableFields: fields = [], served = true, deprecated = false } = options;
  const openAPIV3Schema = rootSchema(kind, options);
  const printed = printerColumns(kind, columns, openAPIV3Schema);
  const subresources = {
    ...(status && { status: {} }),
    ...(scale && { scale: scaleOf(kind, scale, openAPIV3Schema) }),
  };
  const selectable = selectableFields(kind, fields, openAPIV3Schema);
  return {
    name: version,
    served,
    // Set to `true` here; combining several versions sets the final value.
    storage: true,
    ...(deprecated !== false && { deprecated: true }),
    ...(typeof deprecated === "string" && { deprecationWarning: checkedWarning(kind, deprecated) }),
    schema: { openAPIV3Schema },
    ...(Object.keys(subresources).length > 0 && { subresources }),
    ...(printed.length > 0 && { additionalPrinterColumns: printed }),
    ...(selectable.length > 0 && { selectableFields: selectable }),
  };
}

function rootSchema(kind: string, options: DefinitionOptions): JsonSchema {
  const { spec, status, conditions = true, root = {}, validations = [] } = options;
  for (const key of ["spec", "status", "root"] as const) {
    const schema = options[key];
    if (schema === undefined || schema === true) continue;
    if (schema.type !== "object") rejectKind(kind, `"${key}" must be the schema of an object. Use s.object()`);
    checkTree(kind, schema, key === "root" ? "" : `.${key}`);
  }
  checkRoot(kind, options);
  const description = options.description ?? root.description;
  const isSpecRequired = spec !== undefined && spec.default === undefined && marksOf(spec).optional !== true;
  // Normalized to the form that a server returns, so that comparisons find no difference.
  const whole = normalSchema({
    ...root,
    type: "object",
    description,
    properties: {
      ...(spec && { spec }),
      ...(isObject(status) && { status: statusSchema(status, conditions) }),
      ...root.properties && withNarrowedMetadata(root.properties),
    },
    required: [
      ...(isSpecRequired ? ["spec"] : []),
      ...(root.required ?? []).filter((name) => !COMMON_FIELDS.has(name)),
    ],
    "x-kubernetes-validations": [...root["x-kubernetes-validations"] ?? [], ...validations],
  });
  declarationChecks?.checkSchema(kind, whole, status !== undefined);
  return whole;
}

/**
 * Rejects a schema of the whole object that repeats `spec` or `status`, or that makes the object
 * itself optional.
 */
function checkRoot(kind: string, { root, spec, status }: DefinitionOptions): void {
  if (root === undefined) return;
  for (const [key, schema] of Object.entries({ spec, status })) {
    if (!isObject(schema) || root.properties === undefined || !Object.hasOwn(root.properties, key)) continue;
    rejectKind(kind, `"${key}" is declared twice, as an option and in "root". Remove one of them`);
  }
  if (marksOf(root).optional === true || root.default !== undefined) {
    rejectKind(kind, '"root" is the object itself, which is always present. Remove s.optional() or the default');
  }
}

const COMMON_FIELDS: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/**
 * Removes `required` from the schema of `metadata`. An API server rejects it, because names are
 * always required.
 */
function withNarrowedMetadata(
  properties: { readonly [name: string]: JsonSchema },
): { readonly [name: string]: JsonSchema } {
  if (!Object.hasOwn(properties, "metadata")) return properties;
  const { required: _, ...metadata } = properties.metadata!;
  return { ...properties, metadata };
}

/** Removes `required`, because a failed first reconcile may store a partial status. */
function statusSchema({ required: _, ...status }: JsonSchema, withConditions: boolean): JsonSchema {
  if (!withConditions) return status;
  return {
    ...status,
    properties: { conditions: CONDITIONS, observedGeneration: OBSERVED_GENERATION, ...status.properties },
  };
}

const MAX_WARNING_SIZE = 256; // bytes

/** Checks a deprecation warning. Clients print it, so it must be one line. */
function checkedWarning(kind: string, text: string): string {
  const size = new TextEncoder().encode(text).length;
  if (text.trim() === "" || size > MAX_WARNING_SIZE) {
    rejectKind(kind, `"deprecated" must have 1 to ${MAX_WARNING_SIZE} bytes, got ${size}`);
  }
  const found = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(text);
  if (found !== null) {
    rejectKind(kind, `"deprecated" must be one line of printable characters, got ${JSON.stringify(found[0])}`);
  }
  return text;
}
