// Made by tools/cli_internal.ts from src/resource/_freeze.ts: do not edit.
import { setOwn } from "../base/own.gen.ts";
import { isKnownValid } from "../schema/_marks.gen.ts";

export function frozenCopy<T>(value: T): T {
  if (typeof value !== "object" || value === null || isKnownValid(value)) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy)) as T;
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) setOwn(copy, key, frozenCopy(item));
  return Object.freeze(copy) as T;
}
