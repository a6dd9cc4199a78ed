/**
 * Strategic merge patch: a merge patch that merges lists whose items have a key
 * (`k8s.io/apimachinery/pkg/util/strategicpatch`).
 */
import { equal, isObject } from "../../base/json.ts";
import { own, setOwn } from "../../base/own.ts";
import type { ServerSchema } from "../objects/server_schema.ts";
import { goKind, goValue } from "../wire/go_value.ts";
import { StatusError } from "../wire/status_error.ts";

const DIRECTIVE = "$patch";
const DELETE_PREFIX = "$deleteFromPrimitiveList/";
const ORDER_PREFIX = "$setElementOrder/";
const RETAIN_KEYS = "$retainKeys";

/**
 * Applies a strategic merge patch.
 *
 * @param schema The schema, which defines how lists are merged.
 * @param target The value to patch. It is not changed.
 * @param patch The patch.
 * @returns The patched value.
 * @throws {StatusError} If the patch is invalid or cannot be applied to the value.
 */
export function applyStrategicPatch(schema: ServerSchema, target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const directive = own(patch, DIRECTIVE);
  if (directive === "replace") return withoutKey(patch, DIRECTIVE);
  if (directive === "delete") return {};
  if (directive !== undefined && directive !== "merge") throw unknownDirective(directive, patch);
  const before = withRetainedKeys(isObject(target) ? target : {}, patch);
  const result: Record<string, unknown> = { ...before };
  for (const [key, value] of Object.entries(patch)) {
    if (key === DIRECTIVE || key === RETAIN_KEYS || key.startsWith(ORDER_PREFIX)) continue;
    if (key.startsWith(DELETE_PREFIX)) {
      const name = key.slice(DELETE_PREFIX.length);
      const list = own(result, name);
      const deleted = Array.isArray(value) ? value : [];
      if (Array.isArray(list)) setOwn(result, name, list.filter((item) => !deleted.some((each) => equal(each, item))));
    } else if (value === null) delete result[key];
    else setOwn(result, key, mergeValue(propertyOf(schema, key), own(before, key), value));
  }
  for (const [key, order] of Object.entries(patch)) {
    if (!key.startsWith(ORDER_PREFIX) || !Array.isArray(order)) continue;
    const name = key.slice(ORDER_PREFIX.length);
    checkOrder(mergeKey(propertyOf(schema, name)), own(patch, name), order);
    const list = own(result, name);
    if (Array.isArray(list)) setOwn(result, name, sortByOrder(mergeKey(propertyOf(schema, name)), list, order));
  }
  return result;
}

function propertyOf(schema: ServerSchema, key: string): ServerSchema {
  const property = own(schema.properties, key);
  if (property !== undefined) return property;
  return isObject(schema.additionalProperties) ? schema.additionalProperties : {};
}

function withoutKey(object: Record<string, unknown>, key: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([each]) => each !== key));
}

/** Drops the keys of a union that the patch does not retain. */
function withRetainedKeys(target: Record<string, unknown>, patch: Record<string, unknown>): Record<string, unknown> {
  const keys = own(patch, RETAIN_KEYS);
  if (!Array.isArray(keys)) return target;
  return Object.fromEntries(Object.entries(target).filter(([key]) => keys.includes(key)));
}

function mergeKey(schema: ServerSchema): string | undefined {
  return schema["x-kubernetes-patch-merge-key"];
}

function isMerged(schema: ServerSchema): boolean {
  return schema["x-kubernetes-patch-strategy"]?.split(",").includes("merge") ?? false;
}

function mergeValue(schema: ServerSchema, target: unknown, patch: unknown): unknown {
  if (isObject(patch)) {
    const replaces = schema["x-kubernetes-patch-strategy"]?.split(",").includes("replace");
    return replaces ? patch : applyStrategicPatch(schema, target, patch);
  }
  if (!Array.isArray(patch) || !isMerged(schema)) return patch;
  const before = Array.isArray(target) ? target : [];
  const key = mergeKey(schema);
  if (key === undefined) {
    const isIn = (list: readonly unknown[], item: unknown) => list.some((each) => equal(each, item));
    const rank = (item: unknown) => before.findIndex((each) => equal(each, item));
    return interleave(before.filter((item) => !isIn(patch, item)), patch, rank);
  }
  return mergeItems(schema, key, before, patch);
}

function mergeItems(
  schema: ServerSchema,
  key: string,
  before: readonly unknown[],
  patch: readonly unknown[],
): unknown[] {
  const items = patch.map((item) => {
    if (!isObject(item)) throw failure(`expected a map, but received a ${goKind(item)}`);
    return item;
  });
  if (items.some((item) => own(item, DIRECTIVE) === "replace")) {
    return items.filter((item) => own(item, DIRECTIVE) === undefined || Object.keys(item).length > 1)
      .map((item) => withoutKey(item, DIRECTIVE));
  }
  const idOf = (item: unknown) => isObject(item) ? own(item, key) : undefined;
  const find = (list: readonly unknown[], id: unknown) => list.findIndex((each) => equal(idOf(each), id));
  for (const item of items) {
    const directive = own(item, DIRECTIVE);
    if (directive === "merge") throw failure("merging lists cannot yet be specified in the patch");
    if (directive !== undefined && directive !== "delete") throw unknownDirective(directive, item);
    if (idOf(item) === undefined) throw failure(`map: ${goValue(item)} does not contain declared merge key: ${key}`);
  }
  const deleted = items.filter((item) => own(item, DIRECTIVE) === "delete");
  const remaining = before.filter((item) => find(deleted, idOf(item)) < 0);
  const patched = items.filter((item) => !deleted.includes(item)).map((item) =>
    applyStrategicPatch(schema.items ?? {}, remaining[find(remaining, idOf(item))] ?? {}, item)
  );
  const unpatched = remaining.filter((item) => find(patched, idOf(item)) < 0);
  return interleave(unpatched, patched, (item) => find(remaining, idOf(item)));
}

/**
 * Merges two lists. An item of `first` precedes an item of `second` only if both were in the
 * original list in this order.
 */
function interleave(
  first: readonly unknown[],
  second: readonly unknown[],
  rank: (item: unknown) => number,
): unknown[] {
  const result: unknown[] = [];
  let [i, j] = [0, 0];
  while (i < first.length && j < second.length) {
    const [left, right] = [rank(first[i]), rank(second[j])];
    if (left >= 0 && right >= 0 && left < right) result.push(first[i++]);
    else result.push(second[j++]);
  }
  return [...result, ...first.slice(i), ...second.slice(j)];
}

/**
 * Returns the error for an invalid patch. The real server responds with status 500 to most of them.
 */
function failure(message: string): StatusError {
  return new StatusError(500, undefined, message);
}

function unknownDirective(directive: unknown, patch: Record<string, unknown>): StatusError {
  return failure(`unknown patch type: ${goValue(directive)} in map: ${goValue(patch)}`);
}

/** Checks that the items of a patch are in the order that it requests. */
function checkOrder(key: string | undefined, patch: unknown, order: readonly unknown[]): void {
  if (!Array.isArray(patch) || patch.length === 0 || order.length === 0) return;
  const idOf = (item: unknown) => key !== undefined && isObject(item) ? own(item, key) : item;
  const items = patch.filter((item) => !(isObject(item) && own(item, DIRECTIVE) !== undefined));
  let i = 0;
  for (const each of order) if (i < items.length && equal(idOf(items[i]), idOf(each))) i++;
  if (i === items.length) return;
  throw failure(
    `The order in patch list:\n${goValue(patch)}\n doesn't match $setElementOrder list:\n${goValue(order)}\n`,
  );
}

/**
 * Sorts a list in the order that the patch requests. Items that are not in `order` keep their
 * position.
 */
function sortByOrder(key: string | undefined, list: readonly unknown[], order: readonly unknown[]): unknown[] {
  const idOf = (item: unknown) => key !== undefined && isObject(item) ? own(item, key) : item;
  const rank = (item: unknown) => order.findIndex((each) => equal(idOf(each), idOf(item)));
  const ordered = list.filter((item) => rank(item) >= 0).sort((a, b) => rank(a) - rank(b));
  const result: unknown[] = [];
  let next = 0;
  for (const item of list) result.push(rank(item) >= 0 ? ordered[next++] : item);
  return result;
}
