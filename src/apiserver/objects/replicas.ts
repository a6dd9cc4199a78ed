/** Where the replicas of an object are, and what is wrong with them (`k8s.io/apiextensions-apiserver/pkg/registry/customresource`). */
import { isObject } from "../../base/json.ts";
import { own, setOwn } from "../../base/own.ts";
import { type FieldError, invalid } from "../../schema/field_error.ts";
import { goTypeName, goValue } from "../wire/go_value.ts";
import { StatusError } from "../wire/status_error.ts";
import type { DeclaredScale } from "./kinds.ts";
import type { StoredObject } from "./objects.ts";

/** The keys on the way to a place, from a path such as `.spec.replicas`. */
export function keysOf(path: string): string[] {
  return path.replace(/^\./, "").split(".");
}

/** The replicas of a version of a custom kind, as `managedFields` names their place. */
export function replicasPath({ specReplicasPath }: DeclaredScale): readonly string[] {
  return keysOf(specReplicasPath).map((key) => `f:${key}`);
}

/**
 * What is wrong with the replicas of an object whose kind has a scale.
 *
 * @param scale Where they are.
 * @param object The object.
 * @param subresource The path it is written on: on that of the status the spec is not looked at.
 */
export function replicasFaults(scale: DeclaredScale, object: StoredObject, subresource?: string): FieldError[] {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale;
  const selector = labelSelectorPath === undefined ? undefined : mismatch(object, keysOf(labelSelectorPath), "string");
  return [
    ...(subresource === "status" ? [] : countFaults(object, specReplicasPath)),
    ...countFaults(object, statusReplicasPath),
    ...(selector === undefined ? [] : [invalid(labelSelectorPath ?? "", "", selector)]),
  ];
}

const MOST = 2 ** 31 - 1;

function countFaults(object: StoredObject, path: string): FieldError[] {
  const why = mismatch(object, keysOf(path), "int64");
  if (why !== undefined) return [invalid(path, 0, why)];
  const count = Number(valueAt(object, keysOf(path)) ?? 0);
  if (count < 0) return [invalid(path, count, "should be a non-negative integer")];
  return count > MOST ? [invalid(path, count, `should be less than or equal to ${MOST}`)] : [];
}

/** What Go says of a value that is not of the type it has to be, or of one on the way that is no object. */
function mismatch(object: unknown, path: readonly string[], type: "int64" | "string"): string | undefined {
  let value = object;
  for (const [i, key] of path.entries()) {
    if (!isObject(value)) return accessorError(path.slice(0, i + 1), value, "map[string]interface{}");
    const next = own(value, key);
    if (next === undefined) return undefined;
    value = next;
  }
  const isRight = type === "string" ? typeof value === "string" : Number.isInteger(value);
  return isRight ? undefined : accessorError(path, value, type);
}

function accessorError(path: readonly string[], value: unknown, wanted: string): string {
  const type = value === null ? "<nil>" : goTypeName(value);
  return `.${path.join(".")} accessor error: ${goValue(value)} is of the type ${type}, expected ${wanted}`;
}

/** A number at a place of an object, where there is one. */
export function countAt(object: StoredObject, path: readonly string[]): number | undefined {
  const why = mismatch(object, path, "int64");
  if (why !== undefined) throw new StatusError(500, undefined, why);
  return valueAt(object, path) as number | undefined;
}

/** A text at a place of an object, where there is one. */
export function textAt(object: StoredObject, path: readonly string[]): string | undefined {
  const why = mismatch(object, path, "string");
  if (why !== undefined) throw new StatusError(500, undefined, why);
  return valueAt(object, path) as string | undefined;
}

/** What is at a place of an object. */
export function valueAt(object: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => isObject(value) ? own(value, key) : undefined, object);
}

/** An object with something else at a place. */
export function withAt(object: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  const result: Record<string, unknown> = isObject(object) ? { ...object } : {};
  setOwn(result, key, withAt(own(result, key), rest, value));
  return result;
}
