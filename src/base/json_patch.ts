/** JSON patch, RFC 6902, with JSON pointers, RFC 6901. */
import { equal, isObject } from "./json.ts";
import { own, setOwn, withKeys } from "./own.ts";

/** One step of a JSON patch. */
export interface JsonPatchOperation {
  /** What is done. */
  readonly op: "add" | "remove" | "replace" | "move" | "copy" | "test";
  /** Where, as a JSON pointer (RFC 6901): `/spec/ports/0`; `-` is behind the last item of a list. */
  readonly path: string;
  /** Of `move` and `copy`: where the value is taken. */
  readonly from?: string;
  /** Of `add` and `replace` the new value, of `test` the one that must be there. */
  readonly value?: unknown;
}

/** A JSON patch that does not fit what it is applied to. */
export class JsonPatchError extends Error {
  override name = "JsonPatchError";
  /** Whether a `test` said no. */
  readonly isTest: boolean;

  constructor(message: string, isTest = false) {
    super(message);
    this.isTest = isTest;
  }
}

/**
 * Applies a JSON patch (RFC 6902): all of it or, when it throws, nothing.
 *
 * @param target What is patched; it is not changed.
 * @param operations The steps.
 * @returns The patched value; parts that are not touched are shared with `target`.
 * @throws {JsonPatchError} If a step does not fit, or a test says no.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { applyJsonPatch } from "@op/sdk/definitions";
 *
 * const patched = applyJsonPatch({ list: [1, 3] }, [{ op: "add", path: "/list/1", value: 2 }]);
 * assert.deepEqual(patched, { list: [1, 2, 3] });
 * ```
 */
export function applyJsonPatch(target: unknown, operations: readonly JsonPatchOperation[]): unknown {
  return operations.reduce(step, target);
}

function step(document: unknown, operation: JsonPatchOperation): unknown {
  const path = pointer(operation.path);
  switch (operation.op) {
    case "add":
      return change(document, path, operation, (holder, key) => inserted(holder, key, operation));
    case "remove":
      return change(document, path, operation, (holder, key) => removed(holder, key, operation));
    case "replace":
      return change(document, path, operation, (holder, key) => replaced(holder, key, operation));
    case "test":
      if (!equal(lookUp(document, path), operation.value ?? null)) {
        throw new JsonPatchError(
          `Cannot apply the patch: the value at "${operation.path}" is not the one tested for`,
          true,
        );
      }
      return document;
    case "copy":
    case "move": {
      const from = pointer(operation.from ?? "");
      const value = lookUp(document, from);
      if (value === undefined) throw missing(operation.from ?? "");
      const rest = operation.op === "move" ? step(document, { op: "remove", path: operation.from ?? "" }) : document;
      return step(rest, { op: "add", path: operation.path, value });
    }
    default:
      throw new JsonPatchError(`Cannot apply the patch: "${operation.op}" is no operation`);
  }
}

/** The keys of a JSON pointer. */
function pointer(text: unknown): string[] {
  if (text === "") return [];
  if (typeof text !== "string" || !text.startsWith("/")) {
    throw new JsonPatchError(
      `Cannot apply the patch: ${JSON.stringify(text)} is no JSON pointer, it must start with "/"`,
    );
  }
  return text.slice(1).split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function lookUp(document: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => {
    if (Array.isArray(value)) return /^(?:0|[1-9]\d*)$/.test(key) ? value[Number(key)] : undefined;
    return isObject(value) ? own(value, key) : undefined;
  }, document);
}

/** Changes the holder of the last key, and copies all that holds it. */
function change(
  document: unknown,
  path: readonly string[],
  operation: JsonPatchOperation,
  edit: (holder: unknown, key: string) => unknown,
): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return whole(operation);
  if (rest.length === 0) return edit(document, key);
  const part = lookUp(document, [key]);
  if (part === undefined) throw missing(operation.path);
  const next = change(part, rest, operation, edit);
  if (Array.isArray(document)) return document.with(Number(key), next);
  return withKeys(document as Record<string, unknown>, [[key, next]]);
}

/** A step that is about the document itself. */
function whole(operation: JsonPatchOperation): unknown {
  if (operation.op === "remove") throw new JsonPatchError(`Cannot apply the patch: "" is the whole document`);
  return operation.value;
}

function inserted(holder: unknown, key: string, { path, value }: JsonPatchOperation): unknown {
  if (Array.isArray(holder)) {
    return holder.toSpliced(key === "-" ? holder.length : index(key, holder.length, path), 0, value);
  }
  if (!isObject(holder)) throw missing(path);
  const result = { ...holder };
  setOwn(result, key, value);
  return result;
}

function removed(holder: unknown, key: string, { path }: JsonPatchOperation): unknown {
  if (Array.isArray(holder)) return holder.toSpliced(index(key, holder.length - 1, path), 1);
  if (!isObject(holder) || !Object.hasOwn(holder, key)) throw missing(path);
  return withKeys(holder, [[key, undefined]]);
}

function replaced(holder: unknown, key: string, { path, value }: JsonPatchOperation): unknown {
  if (Array.isArray(holder)) return holder.with(index(key, holder.length - 1, path), value);
  if (!isObject(holder) || !Object.hasOwn(holder, key)) throw missing(path);
  const result = { ...holder };
  setOwn(result, key, value);
  return result;
}

function index(key: string, last: number, path: string): number {
  if (!/^(?:0|[1-9]\d*)$/.test(key) || Number(key) > last) throw missing(path);
  return Number(key);
}

function missing(path: string): JsonPatchError {
  return new JsonPatchError(`Cannot apply the patch: there is nothing at "${path}"`);
}
