// Made by tools/cli_internal.ts from src/base/json.ts: do not edit.
import { own } from "./own.gen.ts";

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function equal(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => equal(item, b[i]));
  }
  if (!isObject(a) || !isObject(b)) return a === 0 && b === 0;
  for (const key of Object.keys(b)) if (b[key] !== undefined && own(a, key) === undefined) return false;
  for (const key of Object.keys(a)) if (!equal(a[key], own(b, key))) return false;
  return true;
}
