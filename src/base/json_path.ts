/**
 * JSONPath as in Kubernetes (`k8s.io/client-go/util/jsonpath`): in columns, selectable fields and
 * `kubectl -o jsonpath`.
 */
import { parseTemplate, type Slice, type Step } from "./_json_path_parse.ts";
import { isObject } from "./json.ts";
import { own } from "./own.ts";

export type { Slice, Step };

/** A parsed path. */
export interface JsonPath {
  /** Its steps: usually a single step of kind `list`. */
  readonly steps: readonly Step[];
  /**
   * Returns the matches in a value, in order: a list for each part of the path. Missing fields have
   * no match. `*` visits the fields of an object in the order of their keys.
   *
   * @throws {TypeError} If the path does not match the type of the value: an index beyond a list's
   * end, or a filter on a value that is not a list.
   */
  find(value: unknown): unknown[][];
}

/**
 * Parses a path.
 *
 * @param path The path without braces, such as `.status.conditions[?(@.type=="Ready")].status`.
 * @throws {SyntaxError} If it is invalid.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const path = parseJsonPath(".ports[?(@.number > 1000)].name");
 * assert.deepEqual(
 *   path.find({ ports: [{ number: 80, name: "web" }, { number: 8080, name: "admin" }] }),
 *   [["admin"]],
 * );
 * ```
 */
export function parseJsonPath(path: string): JsonPath {
  const steps = parseTemplate(`{${path}}`);
  return { steps, find: (value) => steps.map((step) => walk([value], step)) };
}

function walkAll(values: readonly unknown[], steps: readonly Step[]): unknown[] {
  return steps.reduce<unknown[]>((found, step) => walk(found, step), [...values]);
}

function walk(values: unknown[], step: Step): unknown[] {
  switch (step.kind) {
    case "list":
      return walkAll(values, step.steps);
    case "text":
      return [step.text];
    case "number":
    case "boolean":
      return values.map(() => step.value);
    case "field":
      return values.flatMap((value) =>
        isObject(value) && Object.hasOwn(value, step.name) ? [own(value, step.name)] : []
      );
    case "slice":
      return values.flatMap((value) => value === null ? [] : applySlice(value, step.slice));
    case "filter":
      return values.flatMap((value) => applyFilter(value, step));
    case "union":
      return step.choices.flatMap((choice) => walkAll(values, choice));
    case "wildcard":
      return values.flatMap(children);
    case "recursive":
      return values.flatMap(descendants);
    case "word":
      throw new TypeError(`unrecognized identifier ${step.word}`);
  }
}

/** Returns the children of a value. For Go, the children of a string are its bytes. */
function children(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value === "string") return [...new TextEncoder().encode(value)];
  return isObject(value) ? Object.keys(value).sort().map((key) => value[key]) : [];
}

function descendants(value: unknown): unknown[] {
  const found = children(value);
  return found.length === 0 ? [] : [value, ...found.flatMap(descendants)];
}

function applySlice(value: unknown, { from = 0, to, step = 1, isIndex }: Slice): unknown[] {
  if (!Array.isArray(value)) throw new TypeError(`${typeof value} is not array or slice`);
  const { length } = value;
  const start = from < 0 ? from + length : from;
  const given = to ?? length;
  const end = given < 0 || (given === 0 && isIndex) ? given + length : given;
  if (start === end) return [];
  if (start >= length || start < 0) throw outOfBounds(start, length);
  if (end > length || end < 0) throw outOfBounds(end - 1, length);
  if (start > end) throw new TypeError(`starting index ${start} is greater than ending index ${end}`);
  if (step <= 0) throw new TypeError("step must be > 0");
  return value.slice(start, end).filter((_, i) => i % step === 0);
}

function outOfBounds(index: number, length: number): TypeError {
  return new TypeError(`array index out of bounds: index ${index}, length ${length}`);
}

type Filter = Extract<Step, { kind: "filter" }>;

function applyFilter(value: unknown, filter: Filter): unknown[] {
  if (!Array.isArray(value)) {
    throw new TypeError(`${JSON.stringify(value)} is not array or slice and cannot be filtered`);
  }
  return value.filter((item) => passes(item, filter));
}

function passes(item: unknown, { left, operator, right }: Filter): boolean {
  if (operator === "exists") return exists(item, left);
  const [lefts, rights] = [walkAll([item], left), walkAll([item], right)];
  if (lefts.length > 1 || rights.length > 1) throw new TypeError("can only compare one element at a time");
  if (lefts.length === 0 || rights.length === 0) return false;
  return compare(lefts[0], operator, rights[0], isIntegerLiteral(right));
}

function exists(item: unknown, path: readonly Step[]): boolean {
  try {
    return walkAll([item], path).length > 0;
  } catch {
    return false;
  }
}

/**
 * Returns whether a literal is an integer, because Go does not compare an integer with a float.
 * Returns `undefined` for other paths: a number from the object is an integer if its value is one.
 */
function isIntegerLiteral(steps: readonly Step[]): boolean | undefined {
  const [last] = steps.slice(-1);
  return last?.kind === "number" ? last.isInteger : undefined;
}

function compare(left: unknown, operator: string, right: unknown, isRightInteger: boolean | undefined): boolean {
  const [kind, other] = [kindOf(left), kindOf(right, isRightInteger)];
  if (kind === undefined || other === undefined) throw new TypeError("invalid type for comparison");
  if (kind !== other) throw new TypeError("incompatible types for comparison");
  if (operator === "==") return left === right;
  if (operator === "!=") return left !== right;
  const [a, b] = [left as number, right as number];
  if (!["<", "<=", ">", ">="].includes(operator)) throw new TypeError(`unrecognized filter operator ${operator}`);
  if (kind === "boolean") throw new TypeError("invalid type for comparison");
  if (operator === "<") return a < b;
  if (operator === "<=") return a <= b;
  return operator === ">" ? a > b : a >= b;
}

function kindOf(value: unknown, isIntegerLiteral = Number.isInteger(value)): string | undefined {
  if (typeof value === "number") return isIntegerLiteral ? "integer" : "fraction";
  return typeof value === "string" || typeof value === "boolean" ? typeof value : undefined;
}
