import { isObject } from "../base/json.ts";
import { printPath } from "./path.ts";

/**
 * Returns why a value cannot be stored as JSON, as a clause such as `.created is a Date`. Returns
 * `undefined` if it can. Properties with the value `undefined` count as absent.
 *
 * @param value The value.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(jsonError({ id: 1, labels: ["a"], note: undefined }), undefined);
 * assert.equal(jsonError({ created: new Date() }), ".created is a Date");
 * ```
 */
export function jsonError(value: unknown): string | undefined {
  return errorOf(value, "", []);
}

function errorOf(value: unknown, path: string, outer: readonly unknown[]): string | undefined {
  const place = path === "" ? "it" : path;
  switch (typeof value) {
    case "string":
    case "boolean":
      return undefined;
    case "number":
      return Number.isFinite(value) ? undefined : `${place} is ${value}`;
    case "object":
      break;
    default:
      return `${place} is ${typeof value === "undefined" ? "undefined" : `a ${typeof value}`}`;
  }
  if (value === null) return undefined;
  if (outer.includes(value)) return `${place} contains itself`;
  if (Array.isArray(value)) {
    // Array.from reads missing items as `undefined`.
    return firstError(Array.from(value, (item, i) => [`${path}[${i}]`, item]), [...outer, value]);
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!isObject(value) || prototype !== null && prototype !== Object.prototype) {
    return `${place} is a ${value.constructor.name}`;
  }
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return firstError(entries.map(([name, inner]) => [path + printPath([name]), inner]), [...outer, value]);
}

function firstError(
  entries: readonly (readonly [path: string, value: unknown])[],
  outer: readonly unknown[],
): string | undefined {
  for (const [path, inner] of entries) {
    const error = errorOf(inner, path, outer);
    if (error !== undefined) return error;
  }
  return undefined;
}
