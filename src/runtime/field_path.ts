/**
 * Finds the fields that differ between two objects, and the field manager that owns a field. Fields
 * are named as in `managedFields` (KEP-555, `fieldsV1`).
 */
import { equal, isObject } from "../base/json.ts";
import { own } from "../base/own.ts";
import type { KubeObject, ManagedFields } from "../resource/kind.ts";
import { formInside, isSameValue, type StoredForm, storedForm } from "./stored_form.ts";

/** Path of a field in the form of `fieldsV1`: `f:<name>`, or `k:<keys>` for an item of a list. */
export type FieldPath = readonly string[];

/** A field whose value differs. */
export interface Difference {
  readonly path: FieldPath;
  readonly wanted: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

// Maximum number of differences that are returned. Two writers rarely conflict about more fields.
const MAX_DIFFERENCES = 16;

/**
 * Returns the fields whose value differs. Fields that are not applied are ignored.
 *
 * @param wanted The object to apply.
 * @param live The object in the cluster. Its `managedFields` show which lists have keys.
 */
export function differences(wanted: KubeObject, live: KubeObject): readonly Difference[] {
  const { apiVersion: _apiVersion, kind: _kind, metadata, ...rest } = wanted as KubeObject & Fields;
  const { name: _name, namespace: _namespace, ...written } = metadata as unknown as Fields;
  const found: Difference[] = [];
  const fields = (live.metadata.managedFields ?? []).map(({ fieldsV1 }) => fieldsV1).filter(isObject);
  compare({ ...rest, metadata: written }, live, fields, [], { found, form: storedForm(wanted) });
  return found;
}

/** State of a comparison: the form of the values and the differences so far. */
interface Comparison {
  readonly found: Difference[];
  readonly form: StoredForm;
}

function compare(
  wanted: unknown,
  live: unknown,
  fields: readonly Fields[],
  path: FieldPath,
  comparison: Comparison,
): void {
  const { found, form } = comparison;
  if (found.length === MAX_DIFFERENCES || isSameValue(wanted, live, form)) return;
  if (isObject(wanted) && isObject(live)) {
    for (const [name, value] of Object.entries(wanted)) {
      if (value === undefined) continue;
      const inner = { found, form: formInside(form, name) };
      // API servers omit an empty map, so the keys differ and not the map.
      const liveValue = own(live, name) ?? (isObject(value) ? {} : undefined);
      compare(value, liveValue, enter(fields, `f:${name}`), [...path, `f:${name}`], inner);
    }
  } else if (Array.isArray(wanted) && Array.isArray(live) && keyNames(fields).length > 0) {
    compareItems(wanted, live, fields, path, comparison);
  } else found.push({ path, wanted });
}

function compareItems(
  wanted: readonly unknown[],
  live: readonly unknown[],
  fields: readonly Fields[],
  path: FieldPath,
  comparison: Comparison,
): void {
  const names = keyNames(fields);
  for (const item of wanted) {
    if (!isObject(item)) continue;
    const keys = Object.fromEntries(names.filter((name) => item[name] !== undefined).map((name) => [name, item[name]]));
    const liveValue = live.find((other) =>
      isObject(other) && Object.entries(keys).every(([name, value]) => equal(other[name], value))
    );
    // API servers record an item with all keys, including defaulted ones.
    const full = isObject(liveValue) ? Object.fromEntries(names.map((name) => [name, liveValue[name]])) : keys;
    const step = `k:${JSON.stringify(full)}`;
    compare(item, liveValue, enter(fields, step), [...path, step], comparison);
  }
}

/** Returns the sorted key names of a list map; empty if the list has none. */
function keyNames(fields: readonly Fields[]): readonly string[] {
  for (const entry of fields) {
    for (const step of Object.keys(entry)) {
      const keys = step.startsWith("k:") ? parsed(step) : undefined;
      if (keys !== undefined) return Object.keys(keys).sort();
    }
  }
  return [];
}

function enter(fields: readonly Fields[], step: string): readonly Fields[] {
  return fields.flatMap((entry) => {
    const inner = stepInto(entry, step);
    return isObject(inner) ? [inner] : [];
  });
}

/** Returns the entry of a step in recorded fields. The keys of a list item may have any order. */
function stepInto(fields: Fields, step: string): unknown {
  const exact = own(fields as Record<string, unknown>, step);
  const keys = exact === undefined && step.startsWith("k:") ? parsed(step) : undefined;
  if (keys === undefined) return exact;
  const same = Object.keys(fields).find((other) => other.startsWith("k:") && equal(parsed(other), keys));
  return same === undefined ? undefined : fields[same];
}

function parsed(step: string): Fields | undefined {
  try {
    const keys = JSON.parse(step.slice(2));
    return isObject(keys) ? keys : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the other field manager that owns a field.
 *
 * @param object The object in the cluster.
 * @param path The field.
 * @param manager The field manager to ignore.
 */
export function ownerOf(object: KubeObject, path: FieldPath, manager: string): string | undefined {
  return others(object, manager).find(({ fieldsV1 }) => isObject(fieldsV1) && owns(fieldsV1, path))?.manager;
}

/** Returns whether any field manager owns a field. A removed field has no owner. */
export function isOwned({ metadata: { managedFields = [] } }: KubeObject, path: FieldPath): boolean {
  return managedFields.some(({ fieldsV1 }) => isObject(fieldsV1) && owns(fieldsV1, path));
}

/**
 * Returns the other field manager that wrote an object last.
 *
 * @param object The object in the cluster.
 * @param manager The field manager to ignore.
 */
export function lastWriter(object: KubeObject, manager: string): string | undefined {
  return others(object, manager)[0]?.manager;
}

/** Returns the entries of other field managers, the newest first. */
function others({ metadata: { managedFields = [] } }: KubeObject, manager: string): readonly ManagedFields[] {
  return managedFields.filter((entry) => entry.manager !== manager)
    .toSorted((one, other) => (other.time ?? "").localeCompare(one.time ?? ""));
}

function owns(fields: Fields, path: FieldPath): boolean {
  let current: unknown = fields;
  for (const step of path) {
    current = isObject(current) ? stepInto(current, step) : undefined;
    if (current === undefined) return false;
    // A value that is owned as a whole has no fields.
    if (isObject(current) && Object.keys(current).length === 0) return true;
  }
  return true;
}

// Names that may follow a dot.
const PLAIN = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Returns a path as users write it: `.spec.template.spec.containers[name="web"].image`. */
export function printPath(path: FieldPath): string {
  return path.map((step) => {
    const tail = step.slice(2);
    if (step.startsWith("f:")) return PLAIN.test(tail) ? `.${tail}` : `[${JSON.stringify(tail)}]`;
    const keys = parsed(step);
    if (keys === undefined) return `[${tail}]`;
    return `[${Object.entries(keys).map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(",")}]`;
  }).join("");
}

/** Returns the fields that a JSON merge patch sets, with their values. */
export function patchedFields(patch: unknown, path: FieldPath = []): readonly Difference[] {
  if (!isObject(patch) || Object.keys(patch).length === 0) return [{ path, wanted: patch }];
  return Object.entries(patch).flatMap(([name, value]) => patchedFields(value, [...path, `f:${name}`])).slice(
    0,
    MAX_DIFFERENCES,
  );
}
