/**
 * Decides whether an apply would change an object, from its `managedFields` (KEP-555, `fieldsV1`).
 */
import { equal, isObject } from "../base/json.ts";
import { own } from "../base/own.ts";
import type { KubeObject } from "../resource/kind.ts";
import { formInside, isSameValue, type StoredForm, storedForm } from "./stored_form.ts";

/**
 * Returns whether an apply would not change an object: all applied fields have their value and are
 * owned by the manager, and the manager owns no other field. Returns `false` if this cannot be
 * decided; the API server then finds that the apply changes no field.
 *
 * @param wanted The object to apply, with `apiVersion`, `kind` and `metadata`.
 * @param live The object in the cluster.
 * @param manager The field manager of the apply.
 */
export function isApplied(wanted: KubeObject, live: KubeObject, manager: string): boolean {
  const entry = live.metadata.managedFields?.find((entry) =>
    entry.manager === manager && entry.operation === "Apply" && !entry.subresource
  );
  if (entry === undefined || entry.apiVersion !== wanted.apiVersion || !isObject(entry.fieldsV1)) return false;
  const { apiVersion: _apiVersion, kind: _kind, metadata, ...rest } = wanted as KubeObject & Record<string, unknown>;
  const { name: _name, namespace: _namespace, ...written } = metadata as unknown as Record<string, unknown>;
  // Name and namespace have no owner.
  const fields = Object.keys(written).length === 0 ? rest : { ...rest, metadata: written };
  return isOwned(fields, live, entry.fieldsV1, storedForm(wanted));
}

function isOwned(wanted: unknown, live: unknown, fields: Record<string, unknown>, form: StoredForm): boolean {
  const keys = Object.keys(fields).filter((key) => key !== ".");
  // A leaf, or a value that is owned as a whole.
  if (keys.length === 0) return isSameValue(wanted, live, form);
  if (Array.isArray(wanted)) return Array.isArray(live) && isListOwned(wanted, live, fields, keys, form);
  if (!isObject(wanted) || !isObject(live)) return false;
  // An empty list has no items to own, and API servers drop it from built-in kinds.
  const isEmptyList = (name: string): boolean => {
    const [value, liveValue] = [wanted[name], own(live, name)];
    if (fields[`f:${name}`] !== undefined || !Array.isArray(value) || value.length > 0) return false;
    return liveValue === undefined ? form !== "as sent" : equal(value, liveValue);
  };
  const names = Object.keys(wanted).filter((name) => wanted[name] !== undefined && !isEmptyList(name));
  return names.length === keys.length && names.every((name) => {
    const inner = fields[`f:${name}`];
    return isObject(inner) && isOwned(wanted[name], own(live, name), inner, formInside(form, name));
  });
}

/** Items of a set are recorded as `v:<value>`, items of a list map as `k:<keys>`. */
function isListOwned(
  wanted: unknown[],
  live: unknown[],
  fields: Record<string, unknown>,
  keys: string[],
  form: StoredForm,
): boolean {
  if (wanted.length !== keys.length) return false;
  let unmatched = wanted;
  /** Index of each wanted item in the live list. */
  const liveIndexes = new Map<unknown, number>();
  const isSame = keys.every((key) => {
    const tail = parseKey(key);
    if (tail === undefined) return false;
    if (key.startsWith("v:")) return wanted.some((item) => equal(item, tail)) && live.some((item) => equal(item, tail));
    if (!isObject(tail)) return false;
    // An item with all keys is preferred to one that omits keys with defaults. Each item matches
    // only once.
    const item = unmatched.find((item) => hasKeys(item, tail, false)) ??
      unmatched.find((item) => hasKeys(item, tail, true));
    unmatched = unmatched.filter((other) => other !== item);
    const index = live.findIndex((item) => hasKeys(item, tail, false));
    liveIndexes.set(item, index);
    const liveValue = live[index];
    const inner = fields[key];
    return isObject(item) && isObject(liveValue) && isObject(inner) && isItemOwned(item, liveValue, inner, tail, form);
  });
  // Order matters: init containers run in order, and environment variables refer to earlier ones.
  const order = wanted.flatMap((item) => liveIndexes.get(item) ?? []);
  return isSame && order.every((place, i) => i === 0 || place > order[i - 1]!);
}

function isItemOwned(
  item: Record<string, unknown>,
  live: Record<string, unknown>,
  fields: Record<string, unknown>,
  keys: Record<string, unknown>,
  form: StoredForm,
): boolean {
  // An item that is owned as a whole, such as an owner reference.
  if (Object.keys(fields).length === 0) return equal(item, live);
  // API servers fill in an omitted key, such as a port's protocol, and record it for this manager.
  return isOwned({ ...keys, ...item }, live, {
    ...Object.fromEntries(Object.keys(keys).map((name) => [`f:${name}`, {}])),
    ...fields,
  }, form);
}

function hasKeys(item: unknown, keys: Record<string, unknown>, mayOmit: boolean): boolean {
  return isObject(item) &&
    Object.entries(keys).every(([name, value]) => equal(item[name], value) || (mayOmit && item[name] === undefined));
}

function parseKey(key: string): unknown {
  if (!key.startsWith("v:") && !key.startsWith("k:")) return undefined;
  try {
    return JSON.parse(key.slice(2));
  } catch {
    return undefined;
  }
}
