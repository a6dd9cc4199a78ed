/** Where the records of objects are stored. */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import type { Storage } from "../../parts/handlers/options.ts";
import { storedDomain } from "../../resource/finalizer_prefix.ts";
import type { AnyKind, KubeObject } from "../../resource/kind.ts";

/** The field of an object that has its record. */
export interface RecordField {
  /** The names that lead to the field. */
  readonly keys: readonly string[];
}

/**
 * Returns the field that has the records of a kind's objects.
 *
 * @param operator The operator's name.
 * @param kind The kind.
 * @param storage The option of the handlers.
 * @returns The field, or `undefined` if records are not stored.
 */
export function recordField(operator: string, kind: AnyKind, storage: Storage): RecordField | undefined {
  switch (storage) {
    case "status":
      return { keys: ["status", "handlerState", operator] };
    case "annotation":
      return { keys: ["metadata", "annotations", `${storedDomain(operator, kind)}/${operator}.handler-state`] };
    case "memory":
      return undefined;
  }
}

/** Returns the record of an object, or `undefined` if it has none. */
export function recordIn(object: KubeObject, { keys }: RecordField): string | undefined {
  const value = keys.reduce<unknown>((value, key) => isObject(value) ? own(value, key) : undefined, object);
  return typeof value === "string" ? value : undefined;
}
