/**
 * Applies strategic merge patches like kustomize, with the merge keys of the generated schemas.
 */
import { equal, isObject } from "../internal/mod.gen.ts";
import type { BuiltinSchemas, MergeSchema } from "./builtin_schemas.ts";
import { Failure } from "../exit_code.ts";

type Json = Readonly<Record<string, unknown>>;

const DIRECTIVE = "$patch";

/** The result of a patch that deletes a value. */
export const DELETED = Symbol("deleted");

/**
 * Merges a patch into an object.
 *
 * Lists with merge keys are merged item by item: items of the patch come first, then the remaining
 * ones. A list without merge keys is replaced. `null` deletes a field.
 *
 * @param value The object.
 * @param patch The patch. It may contain the directives `$patch: delete`, `replace` and `merge`.
 * @param schema The schema of the object; `undefined` for a custom kind, whose lists are replaced.
 * @param builtin Schemas of built-in kinds.
 * @returns The merged object, or {@linkcode DELETED} if the patch deletes it.
 * @throws {Failure} If the patch has a directive that kustomize does not support.
 */
export function strategicMerge(
  value: Json,
  patch: Json,
  schema: MergeSchema | undefined,
  builtin: BuiltinSchemas,
): Json | typeof DELETED {
  const { [DIRECTIVE]: directive = "merge", ...fields } = patch;
  if (directive === "delete") return DELETED;
  if (directive === "replace") return fields;
  if (directive !== "merge") {
    throw new Failure(
      `Cannot apply a patch: the directive "$patch: ${directive}" is unknown. Use delete, replace or merge.`,
    );
  }
  const merged: Record<string, unknown> = { ...value };
  for (const [name, wanted] of Object.entries(fields)) {
    if (/^\$(setElementOrder|deleteFromPrimitiveList|retainKeys)/.test(name)) {
      throw new Failure(
        `Cannot apply a patch: the directive "${name}" is not supported by kustomize. Use a JSON patch.`,
      );
    }
    const result = mergedValue(merged[name], wanted, builtin.property(schema, name), builtin);
    if (result === DELETED) delete merged[name];
    else merged[name] = result;
  }
  return merged;
}

function mergedValue(
  value: unknown,
  wanted: unknown,
  schema: MergeSchema | undefined,
  builtin: BuiltinSchemas,
): unknown {
  if (wanted === null) return DELETED;
  if (isObject(wanted)) return strategicMerge(isObject(value) ? value : {}, wanted, schema, builtin);
  if (!Array.isArray(wanted)) return wanted;
  const merges = schema?.["x-kubernetes-patch-strategy"]?.split(",").includes("merge") ?? false;
  const [list, directive] = withoutDirective(wanted);
  if (directive === "delete") return DELETED;
  if (!merges || directive === "replace") return list;
  const before = Array.isArray(value) ? value : [];
  const keys = schema?.["x-kubernetes-list-map-keys"] ?? [schema?.["x-kubernetes-patch-merge-key"]].filter(isString);
  if (keys.length === 0) return [...list, ...before.filter((item) => !list.some((other) => equal(item, other)))];
  return mergedList(before, list, keys, builtin.items(schema), builtin);
}

/** Separates the directive of a whole list, which is an item with only a directive. */
function withoutDirective(list: readonly unknown[]): [unknown[], unknown] {
  const isDirective = (item: unknown) => isObject(item) && DIRECTIVE in item && Object.keys(item).length === 1;
  const found = list.find(isDirective) as Json | undefined;
  return [list.filter((item) => !isDirective(item)), found?.[DIRECTIVE]];
}

function mergedList(
  before: readonly unknown[],
  wanted: readonly unknown[],
  keys: readonly string[],
  schema: MergeSchema | undefined,
  builtin: BuiltinSchemas,
): unknown[] {
  // Several keys may identify an item, such as port and protocol. Keys that neither list uses are
  // ignored.
  const used = keys.filter((key) => [...before, ...wanted].some((item) => isObject(item) && item[key] !== undefined));
  const rest = [...before];
  const merged: unknown[] = [];
  for (const patch of wanted) {
    if (!isObject(patch)) {
      merged.push(patch);
      continue;
    }
    const at = rest.findIndex((item) => isObject(item) && isSameItem(item, patch, used));
    const item = at < 0 ? {} : rest[at] as Json;
    const result = strategicMerge(item, patch, schema, builtin);
    // Kustomize leaves items with several keys where they are, and moves those with one key to the
    // front.
    if (at >= 0 && result !== DELETED && used.length > 1) rest[at] = result;
    else {
      if (at >= 0) rest.splice(at, 1);
      if (result !== DELETED) merged.push(result);
    }
  }
  return [...merged, ...rest];
}

/**
 * Returns whether at least one key is equal and no other differs. A missing key matches any value.
 */
function isSameItem(item: Json, patch: Json, keys: readonly string[]): boolean {
  return keys.some((key) => item[key] !== undefined && equal(item[key], patch[key])) &&
    keys.every((key) => item[key] === undefined || patch[key] === undefined || equal(item[key], patch[key]));
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}
