/** Errors for paths that are not in a schema. */
import { nearest } from "../base/nearest.ts";
import type { JsonSchema } from "../schema/mod.ts";
import { columnSchema } from "./column_type.ts";

/** The maximum number of names in a message. */
const MAX_NAMES = 5;

/**
 * Returns the reason why a path is not in a schema, and a suggestion:
 * `".spec" has no "hots". Did you mean "host"?`.
 *
 * @param path The path.
 * @param root The schema of a whole object.
 */
export function pathError(path: string, root: JsonSchema): string {
  const [, first = ""] = /^\.(\w+)/.exec(path) ?? [];
  const roots = [...Object.keys(root.properties ?? {}), "metadata"];
  if (!roots.includes(first)) return `it must start with ${list(roots.map((name) => `.${name}`), "or")}`;
  for (let end = path.length; end > 0; end--) {
    if (path[end] !== "." && path[end] !== "[") continue;
    const before = path.slice(0, end);
    const schema = schemaAt(before, root);
    if (schema !== undefined) return `"${before}" ${missingField(schema, path.slice(end))}`;
  }
  return "it does not resolve";
}

function schemaAt(path: string, root: JsonSchema): JsonSchema | undefined {
  try {
    return columnSchema(path, root);
  } catch {
    return undefined; // cut within brackets or quotes
  }
}

/** Returns the verb phrase for a schema that does not have the field at the start of `rest`. */
function missingField({ type, properties }: JsonSchema, rest: string): string {
  const [, name] = /^\.((?:\\.|[^.[\\])+)/.exec(rest) ?? [];
  if (properties === undefined || name === undefined) {
    return `${type === undefined ? "" : `is of type ${type}, and `}has no "${rest}"`;
  }
  const names = Object.keys(properties);
  const suggestion = nearest(name, names);
  return `has no "${name}". ${
    suggestion === undefined ? `Its fields are ${list(names, "and")}` : `Did you mean "${suggestion}"?`
  }`;
}

function list(names: readonly string[], word: "and" | "or"): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => `"${name}"`);
  const more = names.length - shown.length;
  const last = more > 0 ? `${more} more` : shown.pop();
  return shown.length === 0 ? last ?? "no field" : `${shown.join(", ")} ${word} ${last}`;
}
