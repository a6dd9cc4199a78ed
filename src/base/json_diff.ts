/** Computes the JSON patch (RFC 6902) between two JSON values. */
import { equal, isObject } from "./json.ts";
import type { JsonPatchOperation } from "./json_patch.ts";
import { own } from "./own.ts";

/**
 * Returns the operations that convert one JSON value into another. Equal parts are not part of the
 * patch, so values that JavaScript cannot represent, such as large numbers, are retained.
 *
 * @param before One value.
 * @param after The other value. A key with the value `undefined` counts as absent.
 * @returns The operations; none if both are equal.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(diffJson({ a: 1, b: 2 }, { a: 1, b: 3, c: [4] }), [
 *   { op: "replace", path: "/b", value: 3 },
 *   { op: "add", path: "/c", value: [4] },
 * ]);
 * ```
 */
export function diffJson(before: unknown, after: unknown): JsonPatchOperation[] {
  const steps: JsonPatchOperation[] = [];
  diff(before, after, "", steps);
  return steps;
}

function diff(before: unknown, after: unknown, path: string, steps: JsonPatchOperation[]): void {
  if (equal(before, after)) return;
  if (Array.isArray(before) && Array.isArray(after)) return diffLists(before, after, path, steps);
  if (isObject(before) && isObject(after)) return diffObjects(before, after, path, steps);
  steps.push({ op: "replace", path, value: after });
}

function diffObjects(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
  path: string,
  steps: JsonPatchOperation[],
): void {
  for (const key of Object.keys(before)) {
    if (before[key] !== undefined && own(after, key) === undefined) steps.push({ op: "remove", path: at(path, key) });
  }
  for (const key of Object.keys(after)) {
    const value = after[key];
    if (value === undefined) continue;
    const oldValue = own(before, key);
    if (oldValue === undefined) steps.push({ op: "add", path: at(path, key), value });
    else diff(oldValue, value, at(path, key), steps);
  }
}

/**
 * Skips equal items at both ends. Items between are compared pair by pair; the rest is added or
 * removed.
 */
function diffLists(
  before: readonly unknown[],
  after: readonly unknown[],
  path: string,
  steps: JsonPatchOperation[],
): void {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && equal(before[start], after[start])) start++;
  let end = 0;
  while (end < shorter - start && equal(before[before.length - 1 - end], after[after.length - 1 - end])) end++;
  const [lastBefore, lastAfter] = [before.length - end, after.length - end];
  const paired = Math.min(lastBefore, lastAfter);
  for (let i = start; i < paired; i++) diff(before[i], after[i], `${path}/${i}`, steps);
  for (let i = lastBefore - 1; i >= paired; i--) steps.push({ op: "remove", path: `${path}/${i}` });
  for (let i = paired; i < lastAfter; i++) steps.push({ op: "add", path: `${path}/${i}`, value: after[i] });
}

function at(path: string, key: string): string {
  return `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
