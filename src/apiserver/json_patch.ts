/** JSON patches as the server's library applies them (`gopkg.in/evanphx/json-patch.v4`), which is laxer than RFC 6902. */
import { equal, isObject } from "../base/json.ts";
import { own, setOwn } from "../base/own.ts";
import { goKind } from "./go_value.ts";
import { duplicateKeys } from "./json_keys.ts";
import { badRequest, patchRejected, requestTooLarge } from "./status_error.ts";

const MOST_OPERATIONS = 10_000;

/** A JSON patch that was read. */
export interface JsonPatch {
  /** Fields of operations that are there twice or that there are not. */
  readonly faults: readonly string[];
  /** @throws {StatusError} If it does not fit. */
  apply(live: unknown): unknown;
}

interface Operation {
  readonly op?: unknown;
  readonly path?: unknown;
  readonly from?: unknown;
  readonly value?: unknown;
}

/**
 * Reads a JSON patch.
 *
 * @param patch The patch as parsed.
 * @param text The patch as it came.
 * @throws {StatusError} If it is none.
 */
export function readJsonPatch(patch: unknown, text: string): JsonPatch {
  const refuse = (value: unknown, type: string) =>
    badRequest(`error decoding patch: json: cannot unmarshal ${jsonType(value)} into Go value of type ${type}`);
  if (patch === null) return { faults: [], apply: (live) => live };
  if (!Array.isArray(patch)) throw refuse(patch, "[]handlers.jsonPatchOp");
  const faults = duplicateKeys(text).map((field) => `json patch duplicate field "${field}"`);
  patch.forEach((operation, i) => {
    if (!isObject(operation)) throw refuse(operation, "handlers.jsonPatchOp");
    for (const key of Object.keys(operation)) {
      if (!KEYS.has(key)) faults.push(`json patch unknown field "[${i}].${key}"`);
    }
  });
  if (patch.length > MOST_OPERATIONS) {
    throw requestTooLarge(
      `The allowed maximum operations in a JSON patch is ${MOST_OPERATIONS}, got ${patch.length}`,
    );
  }
  return { faults, apply: (live) => applied(live, patch) };
}

const KEYS: ReadonlySet<string> = new Set(["op", "path", "from", "value"]);

function jsonType(value: unknown): string {
  const kind = goKind(value);
  if (kind === "slice") return "array";
  if (kind === "map") return "object";
  return kind === "int64" || kind === "float64" ? "number" : kind;
}

/** Why a patch does not fit; the server does not say. */
class Misfit extends Error {}

function applied(live: unknown, operations: readonly Operation[]): unknown {
  // A copy that the operations change in place: all of it or, when one throws, nothing.
  const root = { document: structuredClone(live) };
  try {
    for (const operation of operations) apply(root, operation);
  } catch (error) {
    if (error instanceof Misfit) throw patchRejected();
    throw error;
  }
  if (!isObject(root.document)) throw patchRejected();
  return root.document;
}

function apply(root: { document: unknown }, operation: Operation): void {
  const { op, path, value = null } = operation;
  if (typeof path !== "string") throw new Misfit();
  if (op === "replace" && path === "") return void (root.document = structuredClone(value));
  if (op === "move" || op === "copy") {
    const source = placeOf(root.document, operation.from);
    const moved = structuredClone(source.get());
    if (op === "move") source.remove();
    return placeOf(root.document, path).add(moved);
  }
  const place = placeOf(root.document, path);
  switch (op) {
    case "add":
      return place.add(structuredClone(value));
    case "remove":
      return place.remove();
    case "replace":
      return place.replace(structuredClone(value));
    case "test":
      if (!equal(place.get(), value)) throw new Misfit();
      return;
    default:
      throw new Misfit();
  }
}

/** A key of an object or a list. */
interface Place {
  /** What is there; null where an object has no such key. */
  get(): unknown;
  add(value: unknown): void;
  replace(value: unknown): void;
  remove(): void;
}

function placeOf(document: unknown, path: unknown): Place {
  if (typeof path !== "string") throw new Misfit();
  const [, ...keys] = path.split("/").map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  const last = keys.pop();
  if (last === undefined) throw new Misfit();
  const holder = keys.reduce((value, key) => keyOf(value, key).get(), document);
  return keyOf(holder, last);
}

function keyOf(holder: unknown, key: string): Place {
  if (Array.isArray(holder)) return itemPlace(holder, key);
  if (isObject(holder)) return fieldPlace(holder, key);
  throw new Misfit();
}

function fieldPlace(object: Record<string, unknown>, key: string): Place {
  return {
    get: () => own(object, key) ?? null,
    add: (value) => setOwn(object, key, value),
    replace: (value) => setOwn(object, key, value),
    remove() {
      if (!Object.hasOwn(object, key)) throw new Misfit();
      delete object[key];
    },
  };
}

function itemPlace(list: unknown[], key: string): Place {
  const at = (length: number) => {
    const index = /^[+-]?\d+$/.test(key) ? Number(key) : NaN;
    if (!(index < length && index >= -length)) throw new Misfit();
    return index < 0 ? index + length : index;
  };
  return {
    get: () => list[at(list.length)],
    add(value) {
      if (key === "-") list.push(value);
      else list.splice(at(list.length + 1), 0, value);
    },
    replace: (value) => void (list[at(list.length)] = value),
    remove: () => void list.splice(at(list.length), 1),
  };
}
