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
const LARGEST_ANNOTATIONS = 256 * KIB;
// etcd's default of --max-request-bytes.
const LARGEST_REQUEST = 1536 * KIB;
/** The share of a limit from which a warning is reported. */
const NEAR = 0.9;

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
 * assert.match(warning, /column "Host" of "v1" is always empty: its type is integer/);
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
  const shown = `it has ${Math.ceil(size / KIB)} KiB`;
  const smaller = "omit descriptions, or parts of built-in types with s.omit and s.pick";
  if (size > NEAR * LARGEST_REQUEST) {
    return [`${shown}, and an API server stores at most ${LARGEST_REQUEST / KIB} KiB: ${smaller}`];
  }
  if (size > LARGEST_ANNOTATIONS) {
    return [
      `${shown}, and "kubectl apply" rejects more than ${
        LARGEST_ANNOTATIONS / KIB
      } KiB: apply it with --server-side, or ${smaller}`,
    ];
  }
  if (size <= NEAR * LARGEST_ANNOTATIONS) return [];
  return [
    `${shown}, and "kubectl apply" rejects more than ${
      LARGEST_ANNOTATIONS / KIB
    } KiB: before it grows, apply it with ` +
    `--server-side, or ${smaller}`,
  ];
}

/** Reports fields that one version has and another lacks, because they are not converted. */
function lossWarnings(versions: readonly DefinitionVersion[]): string[] {
  const stored = versions.find(({ storage }) => storage);
  if (stored === undefined) return [];
  return versions.filter(({ served, name }) => served && name !== stored.name).flatMap(({ name, schema }) => {
    const unstored = missing(schema.openAPIV3Schema, stored.schema.openAPIV3Schema);
    const unseen = missing(stored.schema.openAPIV3Schema, schema.openAPIV3Schema);
    return [
      ...(unstored.length > 0
        ? [
          `fields that are written through "${name}" are lost, because the stored version "${stored.name}" does not have them: ` +
          `${list(unstored)}. Add a conversion between the versions`,
        ]
        : []),
      ...(unseen.length > 0
        ? [
          `an object that is updated through "${name}" loses fields that only the stored version "${stored.name}" has: ` +
          `${list(unseen)}. Add a conversion between the versions`,
        ]
        : []),
    ];
  });
}

/** Returns the paths that a schema has and another lacks. */
function missing(schema: JsonSchema, other: JsonSchema, path = ""): string[] {
  if (other["x-kubernetes-preserve-unknown-fields"] === true || other.additionalProperties === true) return [];
  const { properties = {}, items, additionalProperties } = schema;
  const found = Object.entries(properties).flatMap(([key, property]) => {
    const counterpart = other.properties && Object.hasOwn(other.properties, key) ? other.properties[key] : undefined;
    const known = counterpart ?? (isObject(other.additionalProperties) ? other.additionalProperties : undefined);
    return known === undefined ? [`${path}.${key}`] : missing(property, known, `${path}.${key}`);
  });
  if (items !== undefined && other.items !== undefined) found.push(...missing(items, other.items, `${path}[]`));
  if (isObject(additionalProperties) && isObject(other.additionalProperties)) {
    found.push(...missing(additionalProperties, other.additionalProperties, `${path}.*`));
  }
  return found;
}

// The number of paths in a message; the others are counted.
const NAMED = 3;

function list(paths: readonly string[]): string {
  const named = paths.slice(0, NAMED).map((path) => `"${path}"`).join(", ");
  return paths.length > NAMED ? `${named} and ${paths.length - NAMED} more` : named;
}

function columnWarnings({ name: version, schema, additionalPrinterColumns = [] }: DefinitionVersion): string[] {
  const root = schema.openAPIV3Schema;
  return additionalPrinterColumns.flatMap(({ name, type, jsonPath }) => {
    const target = columnSchema(jsonPath, root);
    if (target !== undefined && !shows(type, target)) {
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

/** kubectl requests the newest served version, and shows only its columns. */
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
 * Reports whether a column of a type can show values of a schema. kubectl leaves the column empty
 * otherwise.
 */
function shows(type: string, schema: JsonSchema): boolean {
  if (type === "string" || schema.type === undefined) return true;
  if (type === "date") return schema.type === "string";
  const isNumeric = schema.type === "integer" || schema.type === "number";
  return type === "boolean" ? columnType(schema) === "boolean" : isNumeric;
}

function formatWarnings(versions: readonly DefinitionVersion[]): string[] {
  const formats = new Set(versions.flatMap(({ schema }) => unknownFormats(schema.openAPIV3Schema)));
  return [...formats].map((format) => `the format "${format}" is not validated: an API server does not know it`);
}
