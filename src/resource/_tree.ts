/** Rejects cyclic and too deeply nested schemas before other code walks through them. */
import { MAX_DEPTH } from "../schema/_check.ts";
import { rejectKind } from "./_kind_error.ts";

const LONGEST_PATH = 60;

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
  const todo: (Visit | { readonly left: object })[] = [{ value: schema, path, depth: 0 }];
  const around = new Set<object>();
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    if ("left" in next) {
      around.delete(next.left);
      continue;
    }
    const { value, depth } = next;
    if (around.has(value)) {
      rejectKind(kind, `${shown(next.path)} contains itself. Use s.anything() instead of the recursion`);
    }
    if (depth > MAX_DEPTH) {
      rejectKind(
        kind,
        `${shown(next.path)} is nested deeper than ${MAX_DEPTH} levels of JSON. Use s.anything() at some level`,
      );
    }
    around.add(value);
    todo.push({ left: value });
    for (const [key, part] of Object.entries(value)) {
      if (typeof part !== "object" || part === null) continue;
      todo.push({ value: part, path: below(next.path, key), depth: depth + 1 });
    }
  }
}

function below(path: string, key: string): string {
  if (path.length > LONGEST_PATH) return path;
  // Children of `properties` are fields, and messages name only fields.
  if (key === "properties") return path;
  if (key === "items") return `${path}[]`;
  return key === "additionalProperties" ? `${path}.*` : `${path}.${key}`;
}

function shown(path: string): string {
  return path.length > LONGEST_PATH ? `${path.slice(0, LONGEST_PATH)}...` : path;
}
