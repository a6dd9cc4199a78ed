/** Finds fields with secrets, whose values must not be stored in an annotation or status. */
import { isWithin, parsePath, type Path, printPath } from "../../handlers/path.ts";
import type { AnyKind, DefinitionVersion } from "../../resource/kind.ts";
import type { Handler } from "./handler.ts";

type JsonSchema = DefinitionVersion["schema"]["openAPIV3Schema"];

/**
 * Returns the path of a field with secrets whose values a handler would store, or `undefined`.
 *
 * @param handler The handler. Computed values are not checked.
 */
export function storedSecret({ kind, subject, options: { ignoredFields = [] } }: Handler): string | undefined {
  if (subject.type === "none" || subject.type === "computed") return undefined;
  const path = subject.type === "field" || subject.type === "items" ? parsePath(subject.path) : [];
  const ignored = ignoredFields.map(parsePath);
  const found = secretFields(kind).find((field) =>
    (isWithin(field, path) || isWithin(path, field)) && !ignored.some((outer) => isWithin(field, outer))
  );
  return found === undefined ? undefined : printPath(found);
}

/**
 * Returns the paths of a kind's fields with secrets: values of Secrets, and `format: "password"`.
 */
function secretFields({ group, kind, crd, version }: AnyKind): readonly Path[] {
  if (group === "" && kind === "Secret") return [["data"], ["stringData"]];
  const root = crd?.spec.versions.find(({ name }) => name === version)?.schema.openAPIV3Schema;
  return root === undefined ? [] : passwordFields(root, []);
}

/** A field of a list item or of a map value has the path of the list or map. */
function passwordFields(schema: JsonSchema, path: Path): readonly Path[] {
  if (schema.format === "password") return [path];
  const { properties = {}, additionalProperties, items } = schema;
  const values = typeof additionalProperties === "object" ? additionalProperties : undefined;
  return [
    ...Object.entries(properties).flatMap(([name, property]) => passwordFields(property, [...path, name])),
    ...[items, values].some((inner) => inner !== undefined && passwordFields(inner, path).length > 0) ? [path] : [],
  ];
}
