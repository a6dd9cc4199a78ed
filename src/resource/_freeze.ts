/** Deeply frozen copies. */
import { setOwn } from "../base/own.ts";
import { isKnownValid } from "../schema/_marks.ts";

/** Returns a frozen copy of a JSON value. Parts that are known to be deeply frozen are shared. */
export function frozenCopy<T>(value: T): T {
  if (typeof value !== "object" || value === null || isKnownValid(value)) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy)) as T;
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) setOwn(copy, key, frozenCopy(item));
  return Object.freeze(copy) as T;
}
