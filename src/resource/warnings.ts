/** Warns about definitions that an API server accepts and that cause problems later. */
import { isObject } from "../base/json.ts";
import { parseJsonPath } from "../base/json_path.ts";
import { compareVersions } from "../base/version_order.ts";
import type { JsonSchema } from "../schema/mod.ts";
import { unknownFormats } from "../schema/unknown_formats.ts";
import { columnSchema, columnType, hasMismatchedFilter } from "./column_type.ts";
import type { CustomResourceDefinitionManifest, DefinitionVersion } from "./kind.ts";

const KIB = 1024;
// The limit of all annotations of an object. kubectl stores the whole object in one of them.
const MAX_ANNOTATIONS = 256 * KIB;
// etcd's default of --max-request-bytes.
const MAX_REQUEST = 1536 * KIB;
/** The share of a limit above which a warning is reported. */
const WARNING_SHARE = 0.9;

/**
 * Returns warnings about a CustomResourceDefinition that an API server accepts: its size, fields
 * that are lost between versions, columns that are always empty, show JSON or are missing, and
 * formats that no server validates.
 *
 * @param crd The definition: `crd` of a kind.
 * @returns Warnings, each with advice; empty if there are none.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { resource, s } from "@op/sdk";
 * import { definitionWarnings } from "@op/sdk/validation";
 *
 * const Website = resource({
 *   group: "demo.example.com",
 *   version: "v1",
 *   kind: "Website",
 *   spec: s.object({ host: s.string() }),
 *   columns: { Host: { path: ".spec.host", type: "integer" } },
 * });
 *
 * const [warning] = definitionWarnings(Website.crd);
 * assert.match(warning ?? "", /column "Host" of "v1" is always empty: its type is integer/);
 * ```
 */
export function definitionWarnings(crd: CustomResourceDefinitionManifest): string[] {
  const { versions } = crd.spec;
  return [
    ...sizeWarnings(crd),
    // A conversion webhook can preserve these fields. `roundTrips` finds those that it loses.
    ...(crd.spec.conversion?.strategy === "Webhook" ? [] : lossWarnings(versions)),
    ...versions.flatMap(columnWarnings),
    ...missingColumns(versions),
    ...formatWarnings(versions),
  ].map((warning) => `${crd.metadata.name}: ${warning}`);
}

function sizeWarnings(crd: CustomResourceDefinitionManifest): string[] {
  const size = new TextEncoder().encode(JSON.stringify(crd)).length;
  const sizeText = `it has ${Math.ceil(size / KIB)} KiB`;
  const reduceSize = "omit descriptions, or parts of built-in types with s.omit and s.pick";
  if (size > WARNING_SHARE * MAX_REQUEST) {
    return [`${sizeText}, and an API server stores at most ${MAX_REQUEST / KIB} KiB: ${reduceSize}`];
  }
  if (size > MAX_ANNOTATIONS) {
    return [
      `${sizeText}, and "kubectl apply" rejects more than ${
        MAX_ANNOTATIONS / KIB
      } KiB: apply it with --server-side, or ${reduceSize}`,
    ];
  }
  if (size <= WARNING_SHARE * MAX_ANNOTATIONS) return [];
  return [
    `${sizeText}, and "kubectl apply" rejects more than ${MAX_ANNOTATIONS / KIB} KiB: before it grows, apply it with ` +
    `--server-side, or ${reduceSize}`,
  ];
}

/** Reports fields that one version has and another lacks, because they are not converted. */
function lossWarnings(versions: readonly DefinitionVersion[]): string[] {
  const stored = versions.find(({ storage }) => storage);
  if (stored === undefined) return [];
  return versions.filter(({ served, name }) => served && name !== stored.name).flatMap(({ name, schema }) => {
    const notStored = missingPaths(schema.openAPIV3Schema, stored.schema.openAPIV3Schema);
    const notServed = missingPaths(stored.schema.openAPIV3Schema, schema.openAPIV3Schema);
    return [
      ...(notStored.length > 0
        ? [
          `fields that are written through "${name}" are lost, because the stored version "${stored.name}" does not have them: ` +
          `${list(notStored)}. Add a conversion between the versions`,
        ]
        : []),
      ...(notServed.length > 0
        ? [
          `an object that is updated through "${name}" loses fields that only the stored version "${stored.name}" has: ` +
          `${list(notServed)}. Add a conversion between the versions`,
        ]
        : []),
    ];
  });
}

/** Returns the paths that a schema has and another lacks. */
function missingPaths(schema: JsonSchema, other: JsonSchema, path = ""): string[] {
  if (other["x-kubernetes-preserve-unknown-fields"] === true || other.additionalProperties === true) return [];
  const { properties = {}, items, additionalProperties } = schema;
  const paths = Object.entries(properties).flatMap(([key, property]) => {
    const counterpart = other.properties && Object.hasOwn(other.properties, key) ? other.properties[key] : undefined;
    const known = counterpart ?? (isObject(other.additionalProperties) ? other.additionalProperties : undefined);
    return known === undefined ? [`${path}.${key}`] : missingPaths(property, known, `${path}.${key}`);
  });
  if (items !== undefined && other.items !== undefined) paths.push(...missingPaths(items, other.items, `${path}[]`));
  if (isObject(additionalProperties) && isObject(other.additionalProperties)) {
    paths.push(...missingPaths(additionalProperties, other.additionalProperties, `${path}.*`));
  }
  return paths;
}

// The number of paths that a message lists. The others are only counted.
const MAX_LISTED = 3;

function list(paths: readonly string[]): string {
  const named = paths.slice(0, MAX_LISTED).map((path) => `"${path}"`).join(", ");
  return paths.length > MAX_LISTED ? `${named} and ${paths.length - MAX_LISTED} more` : named;
}

function columnWarnings({ name: version, schema, additionalPrinterColumns = [] }: DefinitionVersion): string[] {
  const root = schema.openAPIV3Schema;
  return additionalPrinterColumns.flatMap(({ name, type, jsonPath }) => {
    const target = columnSchema(jsonPath, root);
    if (target !== undefined && !canShow(type, target)) {
      return [
        `column "${name}" of "${version}" is always empty: its type is ${type}, but "${jsonPath}" has another type`,
      ];
    }
    if (target?.properties !== undefined) {
      return [`column "${name}" of "${version}" shows JSON: "${jsonPath}" is an object. Name one of its fields`];
    }
    if (!hasMismatchedFilter(parseJsonPath(jsonPath), root)) return [];
    return [`column "${name}" of "${version}" is always empty: "${jsonPath}" compares values of different types`];
  });
}

/** Warns if the newest served version has no columns, because kubectl shows only its columns. */
function missingColumns(versions: readonly DefinitionVersion[]): string[] {
  const [newest, ...older] = versions.filter(({ served }) => served).sort((a, b) => compareVersions(a.name, b.name));
  const hasColumns = ({ additionalPrinterColumns = [] }: DefinitionVersion): boolean =>
    additionalPrinterColumns.length > 0;
  const other = older.find(hasColumns);
  if (newest === undefined || other === undefined || hasColumns(newest)) return [];
  return [
    `"kubectl get" shows "${newest.name}", the newest served version, which has no columns although "${other.name}" has some: ` +
    `add columns to "${newest.name}"`,
  ];
}

/**
 * Returns whether a column of a type can show values of a schema. If not, kubectl leaves the column
 * empty.
 */
function canShow(type: string, schema: JsonSchema): boolean {
  if (type === "string" || schema.type === undefined) return true;
  if (type === "date") return schema.type === "string";
  const isNumeric = schema.type === "integer" || schema.type === "number";
  return type === "boolean" ? columnType(schema) === "boolean" : isNumeric;
}

function formatWarnings(versions: readonly DefinitionVersion[]): string[] {
  const formats = new Set(versions.flatMap(({ schema }) => unknownFormats(schema.openAPIV3Schema)));
  return [...formats].map((format) => `the format "${format}" is not validated: an API server does not know it`);
}
