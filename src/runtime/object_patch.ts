/**
 * Builds the patch of an object from its changes and from what must still be true of the stored
 * object.
 */
import { equal, isObject } from "../base/json.ts";
import type { JsonPatchOperation } from "../base/json_patch.ts";
import { applyMergePatch } from "../base/merge_patch.ts";
import { own, setOwn } from "../base/own.ts";
import type { KubeObject } from "../resource/kind.ts";

/** The keys that lead to a field: `["metadata", "annotations", "example.com/a"]`. */
export type FieldKeys = readonly string[];

/** A change of a field that is valid only for the value that was read. */
export interface FieldChange {
  readonly keys: FieldKeys;
  /** The value that was read; `undefined` if the object did not have the field. */
  readonly before: unknown;
  /** The new value; `undefined` removes the field. */
  readonly after: unknown;
}

/** Changes of an object, and the conditions under which they are valid. */
export interface GuardedChanges {
  /** The changes without `fields`, as a JSON merge patch. */
  readonly merge: Record<string, unknown>;
  /** Changes that are valid only if the stored field still has the value that was read. */
  readonly fields: readonly FieldChange[];
  /** Whether the changes are valid only for the version in the cache. */
  readonly isVersioned: boolean;
}

/** The body of a patch, and its type. */
export type ObjectPatch =
  | { readonly type: "merge"; readonly patch: Record<string, unknown> }
  | { readonly type: "json"; readonly patch: readonly JsonPatchOperation[] };

/**
 * Returns the patch for some changes: a merge patch, or a JSON patch if fields must be tested. A
 * merge patch can only test the version of the whole object.
 *
 * @param object The object in the cache.
 * @param changes The changes.
 */
export function patchOf(object: KubeObject, { merge, fields, isVersioned }: GuardedChanges): ObjectPatch {
  const { uid, resourceVersion } = object.metadata;
  if (fields.length === 0) {
    if (!isVersioned) return { type: "merge", patch: merge };
    return { type: "merge", patch: { ...merge, metadata: { resourceVersion, ...itemsOf(merge.metadata) } } };
  }
  const tests = new Map<string, unknown>([["/metadata/uid", uid]]);
  const isTestable = fields.every(({ before }) => isComparedByValue(before));
  if (isVersioned || !isTestable) tests.set("/metadata/resourceVersion", resourceVersion);
  for (const { keys, before } of fields) {
    if (before === undefined) tests.set(pointer(missingPart(object, keys)), null);
    else if (isTestable) tests.set(pointer(keys), before);
  }
  const patch = fields.reduce((patch, { keys, after }) => withField(patch, keys, after ?? null), merge);
  const operations = operationsOf(patch, object, [], tests);
  return {
    type: "json",
    patch: [...[...tests].map(([path, value]) => ({ op: "test", path, value }) as const), ...operations],
  };
}

/**
 * Returns whether the API server's `test` compares a value as expected. Its library compares
 * strings by their JSON source, and Go escapes some characters in it that JavaScript does not
 * (gopkg.in/evanphx/json-patch.v4, `lazyNode.equal`).
 */
function isComparedByValue(value: unknown): boolean {
  return !/[<>&\u2028\u2029]|\\[bf]/.test(JSON.stringify(value) ?? "");
}

/**
 * Converts a merge patch to operations of a JSON patch.
 *
 * @param patch The merge patch.
 * @param current The value that it changes.
 * @param keys The keys that lead to the value.
 * @param tests Expected values by path. The path of an object that is created is added: it must not
 * exist, because `add` would replace it.
 */
function operationsOf(
  patch: Record<string, unknown>,
  current: unknown,
  keys: FieldKeys,
  tests: Map<string, unknown>,
): JsonPatchOperation[] {
  return Object.entries(patch).flatMap(([key, value]): readonly JsonPatchOperation[] => {
    const before = isObject(current) ? own(current, key) : undefined;
    const inner = [...keys, key];
    const path = pointer(inner);
    if (value === null) return before === undefined ? [] : [{ op: "remove", path }];
    if (!isObject(value)) return [{ op: "add", path, value }];
    if (isObject(before)) return operationsOf(value, before, inner, tests);
    if (before === undefined) tests.set(path, null);
    return [{ op: "add", path, value: applyMergePatch({}, value) }];
  });
}

/** Returns the keys up to the first one that an object does not have. */
function missingPart(object: KubeObject, keys: FieldKeys): FieldKeys {
  let value: unknown = object;
  for (const [i, key] of keys.entries()) {
    value = isObject(value) ? own(value, key) : undefined;
    if (value === undefined) return keys.slice(0, i + 1);
  }
  return keys;
}

/** Returns whether an object has the values that were read. */
export function hasValues(object: KubeObject, fields: readonly FieldChange[]): boolean {
  return fields.every(({ keys, before }) => equal(fieldOf(object, keys), before));
}

function fieldOf(object: KubeObject, keys: FieldKeys): unknown {
  return keys.reduce<unknown>((value, key) => isObject(value) ? own(value, key) : undefined, object);
}

/** Returns a merge patch that also sets a field. */
function withField(patch: Record<string, unknown>, [key, ...rest]: FieldKeys, value: unknown): Record<string, unknown> {
  if (key === undefined) return patch;
  const result = { ...patch };
  setOwn(result, key, rest.length === 0 ? value : withField(itemsOf(own(patch, key)), rest, value));
  return result;
}

function itemsOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

/** Returns a JSON pointer (RFC 6901). */
function pointer(keys: FieldKeys): string {
  return keys.map((key) => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
