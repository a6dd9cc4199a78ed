/** Paths of fields in objects, such as `.spec.replicas`. */
import { isObject } from "../base/json.ts";
import { own, setOwn, withKeys } from "../base/own.ts";

/** The names of a path, in order. The path of the whole object is empty. */
export type Path = readonly string[];

// A name after a dot, in which `\.` is a dot; or a quoted name in brackets.
const STEP = /^(?:\.((?:[^.[\]\\]|\\.)+)|\[(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\])/;

// Names that may follow a dot.
const PLAIN = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/**
 * Parses a path. Its names follow dots; names that contain dots or slashes are quoted in brackets:
 * `.metadata.annotations["example.com/size"]`.
 *
 * @param text The path.
 * @returns The names of the path.
 * @throws {SyntaxError} If the string is not a path.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(parsePath('.metadata.labels["a.b/c"]'), ["metadata", "labels", "a.b/c"]);
 * ```
 */
export function parsePath(text: string): Path {
  const names: string[] = [];
  for (let rest = text; rest !== "";) {
    const [step, plain, double, single] = STEP.exec(rest) ?? [];
    if (step === undefined) {
      throw new SyntaxError(
        `Path ${JSON.stringify(text)}: unexpected ${
          JSON.stringify(rest)
        }. Write names after dots (.spec.size), and names with dots in brackets (["example.com/size"]).`,
      );
    }
    names.push((plain ?? double ?? single ?? "").replaceAll(/\\(.)/g, "$1"));
    rest = rest.slice(step.length);
  }
  return names;
}

/** Returns a path in the form that {@linkcode parsePath} accepts. */
export function printPath(path: Path): string {
  return path.map((name) => PLAIN.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`).join("");
}

/** Returns whether `path` is `outer` or starts with it. */
export function isWithin(path: Path, outer: Path): boolean {
  return outer.every((name, i) => path[i] === name);
}

/**
 * Returns the value of a field.
 *
 * @param value The value that contains the field.
 * @param path The path of the field.
 * @returns The value, or `undefined` if the field does not exist.
 */
export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((current, name) => isObject(current) ? own(current, name) : undefined, value);
}

/**
 * Returns a copy of a value in which one field is replaced. Missing objects that contain the field
 * are created. They remain if the field is removed.
 *
 * @param value The value that contains the field. It is not modified.
 * @param path The path of the field.
 * @param replacement The new value; `undefined` removes the field.
 */
export function withValueAt(value: unknown, path: Path, replacement: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return replacement;
  const object = isObject(value) ? value : {};
  if (replacement === undefined && own(object, name) === undefined) return value;
  return withKeys(object, [[name, withValueAt(own(object, name), rest, replacement)]]);
}

/**
 * Returns a copy of a value that contains only the fields at the given paths.
 *
 * @param value The value.
 * @param paths The paths. Fields that do not exist are omitted.
 */
export function project(value: unknown, paths: readonly Path[]): Record<string, unknown> {
  let result: Record<string, unknown> = {};
  for (const path of paths) {
    const found = valueAt(value, path);
    if (found === undefined) continue;
    if (path.length === 0) return isObject(found) ? found : {};
    result = setAt(result, path, found);
  }
  return result;
}

function setAt(target: Record<string, unknown>, [name = "", ...rest]: Path, value: unknown): Record<string, unknown> {
  const inner = own(target, name);
  setOwn(target, name, rest.length === 0 ? value : setAt(isObject(inner) ? { ...inner } : {}, rest, value));
  return target;
}

/** Removes the paths that are within another path. Returns the others, shortest first. */
export function outermost(paths: readonly Path[]): Path[] {
  const sorted = paths.toSorted((a, b) => a.length - b.length || (printPath(a) < printPath(b) ? -1 : 1));
  return sorted.filter((path, i) => !sorted.slice(0, i).some((outer) => isWithin(path, outer)));
}
