/** Checks the paths of fields against the schemas of kinds. */
import { own } from "../../base/own.ts";
import { type Path, printPath } from "../../handlers/path.ts";
import type { AnyKind, DefinitionVersion } from "../../resource/kind.ts";

type JsonSchema = DefinitionVersion["schema"]["openAPIV3Schema"];

/**
 * Checks whether a field exists, for programs that were not type-checked.
 *
 * @param kind The kind. Fields of built-in kinds are not checked.
 * @param path The path of the field.
 * @returns The error as a clause, or `undefined`.
 */
export function fieldError(kind: AnyKind, path: Path): string | undefined {
  const { schema } = kind.crd?.spec.versions.find(({ name }) => name === kind.version) ?? {};
  const [root = "", ...rest] = path;
  if (schema === undefined || root === "" || ["apiVersion", "kind", "metadata"].includes(root)) return undefined;
  let current: JsonSchema | undefined = own(schema.openAPIV3Schema.properties ?? {}, root);
  for (const name of rest) {
    if (current === undefined || current["x-kubernetes-preserve-unknown-fields"] === true) break;
    const { properties = {}, additionalProperties } = current;
    current = own(properties, name) ?? (typeof additionalProperties === "object" ? additionalProperties : undefined);
  }
  if (current !== undefined) return undefined;
  return `"${printPath(path)}" is not in the schema of ${kind.kind}. Check the path`;
}
