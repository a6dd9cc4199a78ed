/** JSON patches as the server's library applies them (`gopkg.in/evanphx/json-patch.v4`), which is laxer than RFC 6902. */
import { equal, isObject } from "../../base/json.ts";
import { own, setOwn } from "../../base/own.ts";
import { quoted } from "../../base/quoted.ts";
import { goKind } from "./go_value.ts";
import { duplicateKeys } from "./json_keys.ts";
import { badRequest, patchRejected, requestTooLarge } from "./status_error.ts";
import { carryWritten, noteWritten, writtenIn } from "./written_numbers.ts";

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

/** A type of JSON as Go calls it. */
export function jsonType(value: unknown): string {
  const kind = goKind(value);
  if (kind === "slice") return "array";
  if (kind === "map") return "object";
  return kind === "int64" || kind === "float64" ? "number" : kind;
}

/** Why a patch does not fit: the library's words, which webhooks are told. Who sends a patch is not. */
export class Misfit extends Error {
  override name = "Misfit";
}

const MISSING = "missing value";

function applied(live: unknown, operations: readonly Operation[]): unknown {
  try {
    const patched = applyOperations(live, operations);
    if (!isObject(patched)) throw patchRejected();
    return patched;
  } catch (error) {
    if (error instanceof Misfit) throw patchRejected();
    throw error;
  }
}

/**
 * Applies operations to a copy of a value.
 *
 * @param live The value.
 * @param operations The operations.
 * @throws {Misfit} If one does not fit.
 */
export function applyOperations(live: unknown, operations: readonly unknown[]): unknown {
  // The operations change it in place: all of it or, when one throws, nothing.
  const root = { document: structuredClone(live) };
  for (const operation of operations) apply(root, (operation ?? {}) as Operation);
  return root.document;
}

function apply(root: { document: unknown }, operation: Operation): void {
  const { value = null } = operation;
  const written = writtenIn(operation)?.get("value");
  const op = typeof operation.op === "string" ? operation.op : "unknown";
  switch (op) {
    case "move":
    case "copy": {
      const from = textOf(operation.from, `${op} operation failed to decode from: operation, missing from field`);
      const source = placeOf(
        root.document,
        from,
        () => `${op} operation does not apply: doc is missing from path: ${from}`,
      );
      const named = op === "move" ? `error in move for path: '${source.key}'` : `error in copy for from: '${from}'`;
      const moved = within(named, () => structuredClone(source.get()));
      if (op === "move") within(named, () => source.remove());
      const path = pathOf(operation, op);
      const target = placeOf(
        root.document,
        path,
        () => `${op} operation does not apply: doc is missing destination path: ${path}`,
      );
      const where = op === "move" ? `error in move for path: '${path}'` : "error while adding value during copy";
      return within(where, () => target.add(moved));
    }
    case "add":
    case "remove": {
      const path = pathOf(operation, op);
      const place = placeOf(
        root.document,
        path,
        () => `${op} operation does not apply: doc is missing path: ${quoted(path)}`,
      );
      return within(
        `error in ${op} for path: '${path}'`,
        () => op === "add" ? place.add(copyOf(value), written) : place.remove(),
      );
    }
    case "replace": {
      const path = pathOf(operation, op);
      if (path === "") return void (root.document = copyOf(value));
      const place = placeOf(
        root.document,
        path,
        () => `replace operation does not apply: doc is missing path: ${path}`,
      );
      return within(
        "replace operation does not apply",
        () => place.replace(copyOf(value), written),
        `doc is missing key: ${path}: ${MISSING}`,
      );
    }
    case "test": {
      const path = pathOf(operation, op);
      const found = path === "" ? root.document : tested(root.document, path);
      if (equal(found, value)) return;
      throw new Misfit(`testing value ${path} failed: test failed`);
    }
    default:
      throw new Misfit(`Unexpected kind: ${op}`);
  }
}

/** A copy that may be changed, with what is known of how its numbers were written. */
function copyOf(value: unknown): unknown {
  const copy: unknown = structuredClone(value);
  carryWritten(value, copy);
  return copy;
}

function tested(document: unknown, path: string): unknown {
  const place = placeOf(document, path, () => `test operation does not apply: is missing path: ${path}`);
  return within(`error in test for path: '${path}'`, () => place.get());
}

function pathOf({ path }: Operation, op: string): string {
  return textOf(
    path,
    `${op} operation failed to decode path${TELLS_WHY.has(op) ? ": operation missing path field" : ""}`,
  );
}

const TELLS_WHY: ReadonlySet<string> = new Set(["replace", "move", "test"]);

function textOf(value: unknown, otherwise: string): string {
  if (typeof value === "string") return value;
  throw new Misfit(`${otherwise}: ${MISSING}`);
}

/** Does a step; what is wrong with it is told with where it was. */
function within<T>(where: string, step: () => T, instead?: string): T {
  try {
    return step();
  } catch (error) {
    if (error instanceof Misfit) throw new Misfit(`${where}: ${instead ?? error.message}`);
    throw error;
  }
}

/** A key of an object or a list. */
interface Place {
  readonly key: string;
  /** What is there; null where an object has no such key. */
  get(): unknown;
  /** @param written How a number is written, where that is not how others are. */
  add(value: unknown, written?: string): void;
  replace(value: unknown, written?: string): void;
  remove(): void;
}

function placeOf(document: unknown, path: string, missing: () => string): Place {
  const [, ...keys] = path.split("/").map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  const last = keys.pop();
  try {
    if (last === undefined) throw new Misfit();
    const holder = keys.reduce((value, key) => keyOf(value, key).get(), document);
    return keyOf(holder, last);
  } catch (error) {
    if (error instanceof Misfit) throw new Misfit(`${missing()}: ${MISSING}`);
    throw error;
  }
}

function keyOf(holder: unknown, key: string): Place {
  if (Array.isArray(holder)) return itemPlace(holder, key);
  if (isObject(holder)) return fieldPlace(holder, key);
  throw new Misfit();
}

function fieldPlace(object: Record<string, unknown>, key: string): Place {
  const set = (value: unknown, written?: string) => {
    setOwn(object, key, value);
    noteWritten(object, key, written);
  };
  return {
    key,
    get: () => own(object, key) ?? null,
    add: set,
    replace: set,
    remove() {
      if (!Object.hasOwn(object, key)) throw new Misfit(`Unable to remove nonexistent key: ${key}: ${MISSING}`);
      delete object[key];
    },
  };
}

function itemPlace(list: unknown[], key: string): Place {
  const at = (length: number, context = "") => {
    if (!/^[+-]?\d+$/.test(key)) throw new Misfit(`${context}strconv.Atoi: parsing ${quoted(key)}: invalid syntax`);
    const index = Number(key);
    if (index < length && index >= -length) return index < 0 ? index + length : index;
    throw new Misfit(`Unable to access invalid index: ${index}: invalid index referenced`);
  };
  return {
    key,
    get: () => list[at(list.length)],
    add(value) {
      if (key === "-") list.push(value);
      else list.splice(at(list.length + 1, `value was not a proper array index: '${key}': `), 0, value);
    },
    replace(value, written) {
      const index = at(list.length);
      list[index] = value;
      noteWritten(list, String(index), written);
    },
    remove: () => void list.splice(at(list.length), 1),
  };
}
