/** Finds differences between a definition and the kind that was generated from it. */
import { equal, isObject } from "../internal/mod.gen.ts";
import type { JsonSchema } from "@op/sdk/resource";
import type { DefinedVersion, Definition } from "../definitions/definition.ts";
import { undescribed } from "./descriptions.ts";
import { normalForm } from "./normal_form.ts";

/**
 * Returns the differences between a definition and the definition of the kind generated from it.
 * Defaults of the server, descriptions, and the properties that every kind has are ignored.
 *
 * @param original The definition that was imported.
 * @param imported The definition that the generated kind produces.
 */
export function lossesOf(original: Definition, imported: Definition): string[] {
  const losses: string[] = [];
  const compare = (path: string, before: unknown, after: unknown) => {
    for (const found of differencesOf(before, after, path)) {
      losses.push(`"${found.path}" changed from ${shortText(found.before)} to ${shortText(found.after)}`);
    }
  };
  if ((original.spec.conversion?.strategy ?? "None") !== "None") {
    losses.push('"spec.conversion" is omitted. Add a conversion() to the operator instead');
  }
  compare("spec.group", original.spec.group, imported.spec.group);
  compare("spec.scope", original.spec.scope, imported.spec.scope);
  compare("spec.names", namesOf(original), namesOf(imported));
  for (const version of original.spec.versions) {
    const path = `spec.versions[${version.name}]`;
    const same = imported.spec.versions.find(({ name }) => name === version.name);
    if (same === undefined) losses.push(`"${path}" is omitted`);
    else compare(path, comparable(version), comparable(same));
  }
  return losses;
}

function namesOf({ spec: { names } }: Definition): unknown {
  const { kind, plural, singular = kind.toLowerCase(), listKind = `${kind}List`, shortNames = [], categories = [] } =
    names;
  return { kind, plural, singular, listKind, shortNames, categories };
}

function comparable(version: DefinedVersion): unknown {
  const { served, storage, deprecated = false, deprecationWarning, schema, subresources = {} } = version;
  const { additionalPrinterColumns = [], selectableFields = [] } = version;
  return {
    served,
    storage,
    deprecated,
    deprecationWarning: deprecated ? deprecationWarning : undefined,
    schema: normalForm(withoutObjectFields(undescribed(schema.openAPIV3Schema))),
    status: subresources.status !== undefined,
    scale: subresources.scale,
    columns: additionalPrinterColumns.map(({ name, jsonPath, type, format = "", priority = 0 }) => {
      return { name, jsonPath, type, format, priority };
    }),
    selectableFields,
  };
}

/** Returns a kind's schema without the properties that every object has. */
function withoutObjectFields(root: JsonSchema): JsonSchema {
  const properties = { ...root.properties };
  for (const [name, type] of [["apiVersion", "string"], ["kind", "string"], ["metadata", "object"]] as const) {
    if (equal(properties[name], { type })) delete properties[name];
  }
  const required = (root.required ?? []).filter((name) =>
    name !== "apiVersion" && name !== "kind" && name !== "metadata"
  );
  return { ...root, properties, required };
}

interface Difference {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Returns the paths at which two values differ. */
function differencesOf(before: unknown, after: unknown, path: string): Difference[] {
  if (equal(before, after)) return [];
  if (!isObject(before) || !isObject(after)) return [{ path, before, after }];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => differencesOf(before[key], after[key], `${path}.${key}`));
}

const MAX_VALUE_LENGTH = 60;

function shortText(value: unknown): string {
  if (value === undefined) return "absent";
  const text = JSON.stringify(value);
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}...` : text;
}
