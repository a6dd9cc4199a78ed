/** Parts of objects: read, filled in, changed. */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";

/** A JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

/** An object with what it leaves out filled in. */
export function or<T extends Fields>(object: T, defaults: Fields): T {
  const missing = Object.entries(defaults).filter(([key]) => own(object, key) === undefined || own(object, key) === "");
  return missing.length === 0 ? object : { ...object, ...Object.fromEntries(missing) };
}

/** A value as an object; empty where it is none. */
export function fields(value: unknown): Fields {
  return isObject(value) ? value : {};
}

/** An object with one of its parts filled in, where it has that. */
export function within<T extends Fields>(object: T, key: string, fill: (part: Fields) => Fields): T {
  const part = own(object, key);
  return isObject(part) ? { ...object, [key]: fill(part) } : object;
}

/** An object with each item of one of its lists filled in. */
export function each(object: Fields, key: string, fill: (item: Fields) => Fields): Fields {
  const list = own(object, key);
  return Array.isArray(list) ? { ...object, [key]: list.map((item) => isObject(item) ? fill(item) : item) } : object;
}
