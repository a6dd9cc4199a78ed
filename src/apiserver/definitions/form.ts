/**
 * Normalizes definitions, and formats them as Go's internal types for error messages. In that form,
 * parts that all versions share are in the spec.
 */
import { equal, isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { normalSchema, type NormalSchemaOptions, quotedSchema, struct } from "../../schema/go_schema.ts";
import { goJson } from "../../schema/go_text.ts";
import type { DefinitionVersion } from "./crd.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns the `spec` of a definition as the server stores it: with default names, without empty
 * values.
 *
 * @param spec The decoded spec.
 * @param options How to normalize schemas.
 */
export function normalSpec(spec: Fields, options: NormalSchemaOptions = {}): Fields {
  const { preserveUnknownFields, versions, names, conversion, ...rest } = spec;
  return {
    group: "",
    scope: "",
    ...rest,
    names: normalNames(isObject(names) ? names : {}),
    versions: Array.isArray(versions)
      ? versions.map((version) => isObject(version) ? normalVersion(version, options) : version)
      : null,
    conversion: normalConversion(isObject(conversion) ? conversion : { strategy: "None" }),
    ...(preserveUnknownFields === true && { preserveUnknownFields }),
  };
}

function normalNames(names: Fields): Fields {
  const kind = String(own(names, "kind") ?? "");
  const listKind = own(names, "listKind") || (kind === "" ? "" : `${kind}List`);
  const singular = own(names, "singular") || kind.toLowerCase();
  return {
    plural: "",
    kind: "",
    ...names,
    ...(singular !== "" && { singular }),
    ...(listKind !== "" && { listKind }),
  };
}

function normalVersion(version: Fields, options: NormalSchemaOptions): Fields {
  const { deprecated, schema, additionalPrinterColumns: columns, ...rest } = version;
  const root = isObject(schema) ? own(schema, "openAPIV3Schema") : undefined;
  return {
    name: "",
    served: false,
    storage: false,
    ...rest,
    ...(deprecated === true && { deprecated }),
    ...(schema !== undefined && { schema: root === undefined ? {} : { openAPIV3Schema: normalSchema(root, options) } }),
    ...(Array.isArray(columns) && { additionalPrinterColumns: columns.map((column) => normalColumn(column)) }),
  };
}

function normalColumn(column: Fields): Fields {
  const { name = "", type = "", format, description, priority, jsonPath = "" } = column;
  return {
    name,
    type,
    jsonPath,
    ...(isSet(format) && { format }),
    ...(isSet(description) && { description }),
    ...(isSet(priority) && { priority }),
  };
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== "" && value !== 0;
}

function normalConversion(conversion: Fields): Fields {
  const { webhook } = conversion;
  const config = isObject(webhook) ? own(webhook, "clientConfig") : undefined;
  const service = isObject(config) ? own(config, "service") : undefined;
  if (!isObject(webhook) || !isObject(config) || !isObject(service)) return conversion;
  return { ...conversion, webhook: { ...webhook, clientConfig: { ...config, service: { port: 443, ...service } } } };
}

/** The parts that are equal in all versions. */
export interface SharedParts {
  readonly schema: boolean;
  readonly subresources: boolean;
  readonly additionalPrinterColumns: boolean;
  readonly selectableFields: boolean;
}

/**
 * Returns which parts all versions of a definition share.
 *
 * @param versions The versions.
 */
export function sharedParts(versions: readonly DefinitionVersion[]): SharedParts {
  const [first] = versions;
  const isShared = (key: keyof SharedParts) => versions.every((version) => equal(version[key], first?.[key]));
  return {
    schema: isShared("schema"),
    subresources: isShared("subresources"),
    additionalPrinterColumns: isShared("additionalPrinterColumns"),
    selectableFields: isShared("selectableFields"),
  };
}

/**
 * Formats versions for messages, without the parts that all versions share.
 *
 * @param versions The versions.
 * @param shared Which parts the versions share.
 */
export function quotedVersions(versions: readonly DefinitionVersion[] | null, shared: SharedParts): string {
  if (versions === null) return "null";
  return `[${versions.map((version) => quotedVersion(version, shared)).join(",")}]`;
}

function quotedVersion(version: DefinitionVersion, shared: SharedParts): string {
  const { schema, subresources, additionalPrinterColumns: columns, selectableFields } = version;
  return struct([
    ["Name", goJson(version.name ?? "")],
    ["Served", goJson(version.served ?? false)],
    ["Storage", goJson(version.storage ?? false)],
    ["Deprecated", goJson(version.deprecated ?? false)],
    ["DeprecationWarning", goJson(version.deprecationWarning ?? null)],
    ["Schema", shared.schema || schema === undefined ? "null" : quotedVersionSchema(schema)],
    ["Subresources", shared.subresources || subresources === undefined ? "null" : quotedSubresources(subresources)],
    [
      "AdditionalPrinterColumns",
      shared.additionalPrinterColumns || columns === undefined ? "null" : `[${columns.map(quotedColumn).join(",")}]`,
    ],
    [
      "SelectableFields",
      shared.selectableFields || selectableFields === undefined
        ? "null"
        : `[${selectableFields.map(({ jsonPath }) => struct([["JSONPath", goJson(jsonPath)]])).join(",")}]`,
    ],
  ]);
}

function quotedVersionSchema({ openAPIV3Schema }: NonNullable<DefinitionVersion["schema"]>): string {
  return struct([[
    "OpenAPIV3Schema",
    openAPIV3Schema === undefined ? "null" : quotedSchema(normalSchema(openAPIV3Schema, { keepsEmpty: true })),
  ]]);
}

function quotedSubresources({ status, scale }: NonNullable<DefinitionVersion["subresources"]>): string {
  return struct([
    ["Status", status === undefined ? "null" : "{}"],
    [
      "Scale",
      scale === undefined ? "null" : struct([
        ["SpecReplicasPath", goJson(scale.specReplicasPath ?? "")],
        ["StatusReplicasPath", goJson(scale.statusReplicasPath ?? "")],
        ["LabelSelectorPath", goJson(scale.labelSelectorPath ?? null)],
      ]),
    ],
  ]);
}

function quotedColumn(column: NonNullable<DefinitionVersion["additionalPrinterColumns"]>[number]): string {
  return struct([
    ["Name", goJson(column.name ?? "")],
    ["Type", goJson(column.type ?? "")],
    ["Format", goJson(column.format ?? "")],
    ["Description", goJson(column.description ?? "")],
    ["Priority", goJson(column.priority ?? 0)],
    ["JSONPath", goJson(column.jsonPath ?? "")],
  ]);
}
