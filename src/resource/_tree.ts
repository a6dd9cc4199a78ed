/** Rejects cyclic and too deeply nested schemas before other code walks through them. */
import { MAX_DEPTH } from "../schema/_check.ts";
import { rejectKind } from "./_kind_error.ts";

const MAX_PATH_LENGTH = 60;

interface Visit {
  readonly value: object;
  readonly path: string;
  readonly depth: number;
}

/**
 * Rejects a schema that is cyclic or nested too deeply.
 *
 * @param kind The kind, for messages.
 * @param schema The schema.
 * @param path The path of the schema, such as `.spec`.
 * @throws {TypeError} If it contains itself, or is nested too deeply.
 */
export function checkTree(kind: string, schema: object, path: string): void {
  // An explicit stack, because recursion could overflow the call stack.
  const stack: (Visit | { readonly leave: object })[] = [{ value: schema, path, depth: 0 }];
  const ancestors = new Set<object>();
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if ("leave" in next) {
      ancestors.delete(next.leave);
      continue;
    }
    const { value, depth } = next;
    if (ancestors.has(value)) {
      rejectKind(kind, `${shortened(next.path)} contains itself. Use s.anything() instead of the recursion`);
    }
    if (depth > MAX_DEPTH) {
      rejectKind(
        kind,
        `${shortened(next.path)} is nested deeper than ${MAX_DEPTH} levels of JSON. Use s.anything() at some level`,
      );
    }
    ancestors.add(value);
    stack.push({ leave: value });
    for (const [key, part] of Object.entries(value)) {
      if (typeof part !== "object" || part === null) continue;
      stack.push({ value: part, path: childPath(next.path, key), depth: depth + 1 });
    }
  }
}

function childPath(path: string, key: string): string {
  if (path.length > MAX_PATH_LENGTH) return path;
  // Children of `properties` are fields, and messages name only fields.
  if (key === "properties") return path;
  if (key === "items") return `${path}[]`;
  return key === "additionalProperties" ? `${path}.*` : `${path}.${key}`;
}

function shortened(path: string): string {
  return path.length > MAX_PATH_LENGTH ? `${path.slice(0, MAX_PATH_LENGTH)}...` : path;
}
