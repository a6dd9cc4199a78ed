/** What of a definition is not in the kind that was made of it. */
import { equal, isObject } from "../internal/mod.gen.ts";
import type { JsonSchema } from "@op/sdk/resource";
import type { DefinedVersion, Definition } from "../definitions/definition.ts";
import { undescribed } from "./descriptions.ts";
import { normalForm } from "./normal_form.ts";

/**
 * What differs between a definition and the one of the kind made of it, each as a place and what
 * became of it. What a server fills in, descriptions, and what every kind has anyway are not
 * counted.
 *
 * @param original The definition that was imported.
 * @param made The definition of the kind.
 */
export function lossesOf(original: Definition, made: Definition): string[] {
  const losses: string[] = [];
  const compare = (path: string, before: unknown, after: unknown) => {
    for (const found of differencesOf(before, after, path)) {
      losses.push(`"${found.path}" was ${short(found.before)} and is ${short(found.after)}`);
    }
  };
  if ((original.spec.conversion?.strategy ?? "None") !== "None") {
    losses.push('"spec.conversion" is left out: a webhook that converts between versions is set up elsewhere');
  }
  compare("spec.group", original.spec.group, made.spec.group);
  compare("spec.scope", original.spec.scope, made.spec.scope);
  compare("spec.names", namesOf(original), namesOf(made));
  for (const version of original.spec.versions) {
    const path = `spec.versions[${version.name}]`;
    const same = made.spec.versions.find(({ name }) => name === version.name);
    if (same === undefined) losses.push(`"${path}" is left out`);
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
    schema: normalForm(withoutOwn(undescribed(schema.openAPIV3Schema))),
    status: subresources.status !== undefined,
    scale: subresources.scale,
    columns: additionalPrinterColumns.map(({ name, jsonPath, type, format = "", priority = 0 }) => {
      return { name, jsonPath, type, format, priority };
    }),
    selectableFields,
  };
}

/** A kind's schema without what every object has: a server knows that of itself. */
function withoutOwn(root: JsonSchema): JsonSchema {
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

/** The places where two values differ, of each the outermost that one of them does not have. */
function differencesOf(before: unknown, after: unknown, path: string): Difference[] {
  if (equal(before, after)) return [];
  if (!isObject(before) || !isObject(after)) return [{ path, before, after }];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => differencesOf(before[key], after[key], `${path}.${key}`));
}

const LONGEST_VALUE = 60;

function short(value: unknown): string {
  if (value === undefined) return "not there";
  const text = JSON.stringify(value);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}...` : text;
}
