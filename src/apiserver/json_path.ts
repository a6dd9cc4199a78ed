/** JSONPath as columns and selectable fields use it (`k8s.io/client-go/util/jsonpath`): fields, indexes, wildcards and filters. */
import { isObject } from "../base/json.ts";
import { own } from "../base/own.ts";

type Step = (values: readonly unknown[]) => unknown[];

const STEP = /\.((?:\\.|[^.[\]\\*])+)|\.\*|\[\*\]|\['([^']+)'\]|\["([^"]+)"\]|\[(-?\d+)\]|\[\?\(([^)]*)\)\]/y;
const FILTER = /^\s*@\.?([^\s=!<>]*)\s*(?:(==|!=|<=|>=|<|>)\s*(.+?))?\s*$/;

/**
 * Reads a path.
 *
 * @param path The path, such as `.status.conditions[?(@.type=="Ready")].status`.
 * @returns What it finds in an object, in order; nothing where the object lacks it.
 * @throws {SyntaxError} If it is not one.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(jsonPath(".spec.ports[0].name")({ spec: { ports: [{ name: "web" }] } }), ["web"]);
 * ```
 */
export function jsonPath(path: string): (object: unknown) => unknown[] {
  const steps: Step[] = [];
  const text = path.startsWith(".") || path.startsWith("[") || path === "" ? path : `.${path}`;
  let at = 0;
  while (at < text.length) {
    STEP.lastIndex = at;
    const match = STEP.exec(text);
    if (match === null) throw new SyntaxError(`Cannot read the path "${path}": "${text.slice(at)}" is not understood`);
    at = STEP.lastIndex;
    // A filter holds a path of its own, which moves the expression's place.
    steps.push(stepOf(match));
  }
  return (object) => steps.reduce<unknown[]>((values, step) => step(values), [object]);
}

function stepOf([text, name, single, double, index, filter]: RegExpExecArray): Step {
  const key = name?.replaceAll("\\.", ".") ?? single ?? double;
  if (key !== undefined) return (values) => values.flatMap((value) => member(value, key));
  if (index !== undefined) {
    return (values) => values.flatMap((value) => Array.isArray(value) ? value.slice(Number(index)).slice(0, 1) : []);
  }
  if (filter !== undefined) return filterOf(filter, text);
  return (values) =>
    values.flatMap((value) => Array.isArray(value) ? value : isObject(value) ? Object.values(value) : []);
}

function member(value: unknown, key: string): unknown[] {
  if (!isObject(value)) return [];
  const part = own(value, key);
  return part === undefined ? [] : [part];
}

function filterOf(filter: string, text: string): Step {
  const match = FILTER.exec(filter);
  if (match === null) throw new SyntaxError(`Cannot read the filter "${text}"`);
  const [, path = "", operator, literal] = match;
  const read = jsonPath(path);
  const wanted = literal === undefined ? undefined : valueOf(literal);
  return (values) =>
    values.flatMap((value) => Array.isArray(value) ? value : []).filter((item) => {
      const [actual] = read(item);
      if (operator === undefined) return actual !== undefined;
      return actual !== undefined && compares(actual, operator, wanted);
    });
}

function valueOf(literal: string): unknown {
  const quoted = /^(["'])(.*)\1$/.exec(literal);
  if (quoted) return quoted[2];
  if (literal === "true" || literal === "false") return literal === "true";
  return Number(literal);
}

function compares(actual: unknown, operator: string, wanted: unknown): boolean {
  switch (operator) {
    case "==":
      return actual === wanted;
    case "!=":
      return actual !== wanted;
    default:
      return typeof actual === typeof wanted && ordered(actual as number, operator, wanted as number);
  }
}

function ordered(a: number | string, operator: string, b: number | string): boolean {
  if (operator === "<") return a < b;
  if (operator === ">") return a > b;
  return operator === "<=" ? a <= b : a >= b;
}
