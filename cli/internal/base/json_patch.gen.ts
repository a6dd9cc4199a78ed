// Made by tools/cli_internal.ts from src/base/json_patch.ts: do not edit.
import { equal, isObject } from "./json.gen.ts";
import { own, setOwn, withKeys } from "./own.gen.ts";

export interface JsonPatchOperation {
  readonly op: "add" | "remove" | "replace" | "move" | "copy" | "test";
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

export class JsonPatchError extends Error {
  override name = "JsonPatchError";
  readonly isTest: boolean;

  constructor(message: string, isTest = false) {
    super(message);
    this.isTest = isTest;
  }
}

export function applyJsonPatch(target: unknown, operations: readonly JsonPatchOperation[]): unknown {
  return operations.reduce(step, target);
}

function step(document: unknown, operation: JsonPatchOperation): unknown {
  const path = pointer(operation.path);
  switch (operation.op) {
    case "add":
      return change(document, path, operation, (parent, key) => inserted(parent, key, operation));
    case "remove":
      return change(document, path, operation, (parent, key) => removed(parent, key, operation));
    case "replace":
      return change(document, path, operation, (parent, key) => replaced(parent, key, operation));
    case "test":
      if (!equal(lookUp(document, path), operation.value ?? null)) {
        throw new JsonPatchError(
          `Cannot apply the patch: the test of "${operation.path}" failed`,
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
      throw new JsonPatchError(`Cannot apply the patch: unknown operation "${operation.op}"`);
  }
}

function pointer(text: unknown): string[] {
  if (text === "") return [];
  if (typeof text !== "string" || !text.startsWith("/")) {
    throw new JsonPatchError(
      `Cannot apply the patch: ${JSON.stringify(text)} is not a JSON pointer. It must start with "/"`,
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

function change(
  document: unknown,
  path: readonly string[],
  operation: JsonPatchOperation,
  edit: (parent: unknown, key: string) => unknown,
): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return changeDocument(operation);
  if (rest.length === 0) return edit(document, key);
  const part = lookUp(document, [key]);
  if (part === undefined) throw missing(operation.path);
  const next = change(part, rest, operation, edit);
  if (Array.isArray(document)) return document.with(Number(key), next);
  return withKeys(document as Record<string, unknown>, [[key, next]]);
}

function changeDocument(operation: JsonPatchOperation): unknown {
  if (operation.op === "remove") {
    throw new JsonPatchError(`Cannot apply the patch: the path "" of the whole document cannot be removed`);
  }
  return operation.value;
}

function inserted(parent: unknown, key: string, { path, value }: JsonPatchOperation): unknown {
  if (Array.isArray(parent)) {
    return parent.toSpliced(key === "-" ? parent.length : index(key, parent.length, path), 0, value);
  }
  if (!isObject(parent)) throw missing(path);
  const result = { ...parent };
  setOwn(result, key, value);
  return result;
}

function removed(parent: unknown, key: string, { path }: JsonPatchOperation): unknown {
  if (Array.isArray(parent)) return parent.toSpliced(index(key, parent.length - 1, path), 1);
  if (!isObject(parent) || !Object.hasOwn(parent, key)) throw missing(path);
  return withKeys(parent, [[key, undefined]]);
}

function replaced(parent: unknown, key: string, { path, value }: JsonPatchOperation): unknown {
  if (Array.isArray(parent)) return parent.with(index(key, parent.length - 1, path), value);
  if (!isObject(parent) || !Object.hasOwn(parent, key)) throw missing(path);
  const result = { ...parent };
  setOwn(result, key, value);
  return result;
}

function index(key: string, last: number, path: string): number {
  if (!/^(?:0|[1-9]\d*)$/.test(key) || Number(key) > last) throw missing(path);
  return Number(key);
}

function missing(path: string): JsonPatchError {
  return new JsonPatchError(`Cannot apply the patch: path "${path}" does not exist`);
}
