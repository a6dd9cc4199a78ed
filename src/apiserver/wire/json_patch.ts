/**
 * Applies JSON patches as the real server's library does (`gopkg.in/evanphx/json-patch.v4`), which
 * is less strict than RFC 6902.
 */
import { equal, isObject } from "../../base/json.ts";
import { own, setOwn } from "../../base/own.ts";
import { quoted } from "../../base/quoted.ts";
import { goKind } from "./go_value.ts";
import { duplicateKeys } from "./json_keys.ts";
import { badRequest, patchRejected, requestTooLarge } from "./status_error.ts";
import { copyNumberSources, numberSourcesIn, setNumberSource } from "./number_sources.ts";

// `MaxJSONPatchOperations` of `k8s.io/apiserver`.
const MAX_OPERATIONS = 10_000;

/** A parsed JSON patch. */
export interface JsonPatch {
  /** Messages about duplicate and unknown fields of operations. */
  readonly errors: readonly string[];
  /** Returns the patched object. @throws {StatusError} If an operation fails. */
  apply(live: unknown): unknown;
}

interface Operation {
  readonly op?: unknown;
  readonly path?: unknown;
  readonly from?: unknown;
  readonly value?: unknown;
}

/**
 * Validates a JSON patch.
 *
 * @param patch The parsed patch.
 * @param text The patch as received.
 * @throws {StatusError} If it is not a list of operations.
 */
export function readJsonPatch(patch: unknown, text: string): JsonPatch {
  const mismatch = (value: unknown, type: string) =>
    badRequest(`error decoding patch: json: cannot unmarshal ${jsonType(value)} into Go value of type ${type}`);
  if (patch === null) return { errors: [], apply: (live) => live };
  if (!Array.isArray(patch)) throw mismatch(patch, "[]handlers.jsonPatchOp");
  const errors = duplicateKeys(text).map((field) => `json patch duplicate field "${field}"`);
  patch.forEach((operation, i) => {
    if (!isObject(operation)) throw mismatch(operation, "handlers.jsonPatchOp");
    for (const key of Object.keys(operation)) {
      if (!OPERATION_KEYS.has(key)) errors.push(`json patch unknown field "[${i}].${key}"`);
    }
  });
  if (patch.length > MAX_OPERATIONS) {
    throw requestTooLarge(
      `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${patch.length}`,
    );
  }
  return { errors, apply: (live) => applyToObject(live, patch) };
}

const OPERATION_KEYS: ReadonlySet<string> = new Set(["op", "path", "from", "value"]);

/** Returns Go's name of a JSON type. */
export function jsonType(value: unknown): string {
  const kind = goKind(value);
  if (kind === "slice") return "array";
  if (kind === "map") return "object";
  return kind === "int64" || kind === "float64" ? "number" : kind;
}

/**
 * The error for an operation that fails, with the library's message. Messages about webhooks
 * contain it; responses to patches do not.
 */
export class PatchMismatch extends Error {
  override name = "PatchMismatch";
}

const MISSING_VALUE = "missing value";

function applyToObject(live: unknown, operations: readonly Operation[]): unknown {
  try {
    const patched = applyOperations(live, operations);
    if (!isObject(patched)) throw patchRejected();
    return patched;
  } catch (error) {
    if (error instanceof PatchMismatch) throw patchRejected();
    throw error;
  }
}

/**
 * Applies operations to a copy of a value.
 *
 * @param live The value.
 * @param operations The operations.
 * @throws {PatchMismatch} If an operation fails, such as a `test` or a missing path.
 */
export function applyOperations(live: unknown, operations: readonly unknown[]): unknown {
  // The operations change a copy, so the value stays unchanged if one of them throws.
  const root = { document: structuredClone(live) };
  for (const operation of operations) apply(root, (operation ?? {}) as Operation);
  return root.document;
}

function apply(root: { document: unknown }, operation: Operation): void {
  const { value = null } = operation;
  const numberSource = numberSourcesIn(operation)?.get("value");
  const op = typeof operation.op === "string" ? operation.op : "unknown";
  switch (op) {
    case "move":
    case "copy": {
      const from = stringOf(operation.from, `${op} operation failed to decode from: operation, missing from field`);
      const source = locate(
        root.document,
        from,
        () => `${op} operation does not apply: doc is missing from path: ${from}`,
      );
      const sourceContext = op === "move"
        ? `error in move for path: '${source.key}'`
        : `error in copy for from: '${from}'`;
      const moved = withContext(sourceContext, () => structuredClone(source.get()));
      if (op === "move") withContext(sourceContext, () => source.remove());
      const path = pathOf(operation, op);
      const target = locate(
        root.document,
        path,
        () => `${op} operation does not apply: doc is missing destination path: ${path}`,
      );
      const context = op === "move" ? `error in move for path: '${path}'` : "error while adding value during copy";
      return withContext(context, () => target.add(moved));
    }
    case "add":
    case "remove": {
      const path = pathOf(operation, op);
      const location = locate(
        root.document,
        path,
        () => `${op} operation does not apply: doc is missing path: ${quoted(path)}`,
      );
      return withContext(
        `error in ${op} for path: '${path}'`,
        () => op === "add" ? location.add(mutableCopy(value), numberSource) : location.remove(),
      );
    }
    case "replace": {
      const path = pathOf(operation, op);
      if (path === "") return void (root.document = mutableCopy(value));
      const location = locate(
        root.document,
        path,
        () => `replace operation does not apply: doc is missing path: ${path}`,
      );
      return withContext(
        "replace operation does not apply",
        () => location.replace(mutableCopy(value), numberSource),
        `doc is missing key: ${path}: ${MISSING_VALUE}`,
      );
    }
    case "test": {
      const path = pathOf(operation, op);
      const found = path === "" ? root.document : valueAt(root.document, path);
      if (equal(found, value)) return;
      throw new PatchMismatch(`testing value ${path} failed: test failed`);
    }
    default:
      throw new PatchMismatch(`Unexpected kind: ${op}`);
  }
}

/** Returns a mutable copy, with the source text of its numbers. */
function mutableCopy(value: unknown): unknown {
  const copy: unknown = structuredClone(value);
  copyNumberSources(value, copy);
  return copy;
}

function valueAt(document: unknown, path: string): unknown {
  const location = locate(document, path, () => `test operation does not apply: is missing path: ${path}`);
  return withContext(`error in test for path: '${path}'`, () => location.get());
}

function pathOf({ path }: Operation, op: string): string {
  return stringOf(
    path,
    `${op} operation failed to decode path${REPORTS_MISSING_PATH.has(op) ? ": operation missing path field" : ""}`,
  );
}

/** Operations whose error message reports the missing field `path`. */
const REPORTS_MISSING_PATH: ReadonlySet<string> = new Set(["replace", "move", "test"]);

function stringOf(value: unknown, message: string): string {
  if (typeof value === "string") return value;
  throw new PatchMismatch(`${message}: ${MISSING_VALUE}`);
}

/** Runs a step, and adds the context to its error. `detail` replaces the error's own message. */
function withContext<T>(context: string, step: () => T, detail?: string): T {
  try {
    return step();
  } catch (error) {
    if (error instanceof PatchMismatch) throw new PatchMismatch(`${context}: ${detail ?? error.message}`);
    throw error;
  }
}

/** A key of an object, or an index of a list. */
interface Location {
  readonly key: string;
  /** Returns the value; `null` if an object does not have the key. */
  get(): unknown;
  /** @param numberSource Source text of the number, if Go does not decode it as an integer. */
  add(value: unknown, numberSource?: string): void;
  replace(value: unknown, numberSource?: string): void;
  remove(): void;
}

function locate(document: unknown, path: string, missing: () => string): Location {
  const [, ...keys] = path.split("/").map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  const last = keys.pop();
  try {
    if (last === undefined) throw new PatchMismatch();
    const holder = keys.reduce((value, key) => keyOf(value, key).get(), document);
    return keyOf(holder, last);
  } catch (error) {
    if (error instanceof PatchMismatch) throw new PatchMismatch(`${missing()}: ${MISSING_VALUE}`);
    throw error;
  }
}

function keyOf(holder: unknown, key: string): Location {
  if (Array.isArray(holder)) return itemLocation(holder, key);
  if (isObject(holder)) return fieldLocation(holder, key);
  throw new PatchMismatch();
}

function fieldLocation(object: Record<string, unknown>, key: string): Location {
  const set = (value: unknown, numberSource?: string) => {
    setOwn(object, key, value);
    setNumberSource(object, key, numberSource);
  };
  return {
    key,
    get: () => own(object, key) ?? null,
    add: set,
    replace: set,
    remove() {
      if (!Object.hasOwn(object, key)) {
        throw new PatchMismatch(`Unable to remove nonexistent key: ${key}: ${MISSING_VALUE}`);
      }
      delete object[key];
    },
  };
}

function itemLocation(list: unknown[], key: string): Location {
  const indexIn = (length: number, context = "") => {
    if (!/^[+-]?\d+$/.test(key)) {
      throw new PatchMismatch(`${context}strconv.Atoi: parsing ${quoted(key)}: invalid syntax`);
    }
    const index = Number(key);
    if (index < length && index >= -length) return index < 0 ? index + length : index;
    throw new PatchMismatch(`Unable to access invalid index: ${index}: invalid index referenced`);
  };
  return {
    key,
    get: () => list[indexIn(list.length)],
    add(value) {
      if (key === "-") list.push(value);
      else list.splice(indexIn(list.length + 1, `value was not a proper array index: '${key}': `), 0, value);
    },
    replace(value, numberSource) {
      const index = indexIn(list.length);
      list[index] = value;
      setNumberSource(list, String(index), numberSource);
    },
    remove: () => void list.splice(indexIn(list.length), 1),
  };
}
