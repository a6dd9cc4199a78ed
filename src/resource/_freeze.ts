/** Values that nobody can change, and that change with nobody else's. */
import { setOwn } from "../base/own.ts";
import { isSound } from "../schema/_marks.ts";

/** A frozen copy of a JSON value. What is known to be frozen with all that is in it is not copied. */
export function frozenCopy<T>(value: T): T {
  if (typeof value !== "object" || value === null || isSound(value)) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy)) as T;
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) setOwn(copy, key, frozenCopy(item));
  return Object.freeze(copy) as T;
}
