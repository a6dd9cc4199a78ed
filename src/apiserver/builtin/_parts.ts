/** Functions that read and change parts of decoded objects. */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { type Fields, fields } from "../objects/objects.ts";

export { type Fields, fields };

/** Returns an object with defaults for missing and empty fields. */
export function withDefaults<T extends Fields>(object: T, defaults: Fields): T {
  const missing = Object.entries(defaults).filter(([key]) => own(object, key) === undefined || own(object, key) === "");
  return missing.length === 0 ? object : { ...object, ...Object.fromEntries(missing) };
}

/** Returns the items of a list as objects; an empty list if the value is not a list. */
export function items(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fields) : [];
}

/** Returns an object with a changed part, if it has that part. */
export function within<T extends Fields>(object: T, key: string, change: (part: Fields) => Fields): T {
  const part = own(object, key);
  return isObject(part) ? { ...object, [key]: change(part) } : object;
}

/** Returns whether the `matchLabels` of a selector match labels. */
export function matchesLabels(selector: Fields, labels: Fields): boolean {
  return Object.entries(fields(selector.matchLabels)).every(([key, value]) => own(labels, key) === value);
}

/** Returns an object with changed items of a list, if it has that list. */
export function each(object: Fields, key: string, change: (item: Fields) => Fields): Fields {
  const list = own(object, key);
  if (!Array.isArray(list)) return object;
  return { ...object, [key]: list.map((item) => isObject(item) ? change(item) : item) };
}
