/**
 * Replicas of custom objects with a scale, and their validation
 * (`k8s.io/apiextensions-apiserver/pkg/registry/customresource`).
 */
import { isObject } from "../../base/json.ts";
import { own, setOwn } from "../../base/own.ts";
import { type FieldError, invalid } from "../../schema/field_error.ts";
import { goTypeName, goValue } from "../wire/go_value.ts";
import { StatusError } from "../wire/status_error.ts";
import type { DeclaredScale } from "./kinds.ts";
import type { StoredObject } from "./objects.ts";

/** Splits a JSON path such as `.spec.replicas` into its keys. */
export function keysOf(path: string): string[] {
  return path.replace(/^\./, "").split(".");
}

/**
 * Returns the path of the replicas in a version of a custom kind, in the form of `managedFields`.
 */
export function replicasPath({ specReplicasPath }: DeclaredScale): readonly string[] {
  return keysOf(specReplicasPath).map((key) => `f:${key}`);
}

/**
 * Returns the errors of the replicas of an object.
 *
 * @param scale JSON paths of the kind's scale.
 * @param object The object.
 * @param subresource Subresource that is written. A write to `status` does not check the spec.
 */
export function replicasErrors(scale: DeclaredScale, object: StoredObject, subresource?: string): FieldError[] {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale;
  const selector = labelSelectorPath === undefined ? undefined : mismatch(object, keysOf(labelSelectorPath), "string");
  return [
    ...(subresource === "status" ? [] : countErrors(object, specReplicasPath)),
    ...countErrors(object, statusReplicasPath),
    ...(selector === undefined ? [] : [invalid(labelSelectorPath ?? "", "", selector)]),
  ];
}

const MAX_INT32 = 2 ** 31 - 1;

function countErrors(object: StoredObject, path: string): FieldError[] {
  const reason = mismatch(object, keysOf(path), "int64");
  if (reason !== undefined) return [invalid(path, 0, reason)];
  const count = Number(valueAt(object, keysOf(path)) ?? 0);
  if (count < 0) return [invalid(path, count, "should be a non-negative integer")];
  return count > MAX_INT32 ? [invalid(path, count, `should be less than or equal to ${MAX_INT32}`)] : [];
}

/**
 * Returns Go's message for a value of the wrong type, or for a value on the path that is not an
 * object.
 */
function mismatch(object: unknown, path: readonly string[], type: "int64" | "string"): string | undefined {
  let value = object;
  for (const [i, key] of path.entries()) {
    if (!isObject(value)) return accessorError(path.slice(0, i + 1), value, "map[string]interface{}");
    const next = own(value, key);
    if (next === undefined) return undefined;
    value = next;
  }
  const isExpected = type === "string" ? typeof value === "string" : Number.isInteger(value);
  return isExpected ? undefined : accessorError(path, value, type);
}

function accessorError(path: readonly string[], value: unknown, wanted: string): string {
  const type = value === null ? "<nil>" : goTypeName(value);
  return `.${path.join(".")} accessor error: ${goValue(value)} is of the type ${type}, expected ${wanted}`;
}

/** Returns the number at a path, if present. Throws a StatusError for other values. */
export function countAt(object: StoredObject, path: readonly string[]): number | undefined {
  const reason = mismatch(object, path, "int64");
  if (reason !== undefined) throw new StatusError(500, undefined, reason);
  return valueAt(object, path) as number | undefined;
}

/** Returns the string at a path, if present. Throws a StatusError for other values. */
export function stringAt(object: StoredObject, path: readonly string[]): string | undefined {
  const reason = mismatch(object, path, "string");
  if (reason !== undefined) throw new StatusError(500, undefined, reason);
  return valueAt(object, path) as string | undefined;
}

/** Returns the value at a path. */
export function valueAt(object: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => isObject(value) ? own(value, key) : undefined, object);
}

/** Returns a copy of an object with another value at a path. */
export function withValueAt(object: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  const result: Record<string, unknown> = isObject(object) ? { ...object } : {};
  setOwn(result, key, withValueAt(own(result, key), rest, value));
  return result;
}
