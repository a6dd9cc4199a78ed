/** Encodes the handler state of an object as a record: one JSON string. */
import { Buffer } from "node:buffer";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { isObject } from "../base/json.ts";
import { diffJson } from "../base/json_diff.ts";
import { applyJsonPatch, type JsonPatchOperation } from "../base/json_patch.ts";
import { own } from "../base/own.ts";
import { callOf } from "./call_id.ts";
import { type HandlerDefinition, type HandlerSet, hasBaseline, isSameFor } from "./handler_set.ts";
import { itemsOf } from "./plan.ts";
import { isWithin, parsePath, type Path, printPath, project, valueAt, withValueAt } from "./path.ts";
import {
  type Attempts,
  type Baseline,
  type HandlerState,
  initialState,
  type ProgressJson,
  progressOf,
  type StepJson,
  type StepState,
} from "./state.ts";

/**
 * Longest record that is stored as plain, readable JSON, in characters. It is small compared with
 * the limit of 262,144 bytes for the annotations of an object.
 */
const MAX_PLAIN_LENGTH = 4096;

/** Longest record, in characters: half of the limit for the annotations of an object. */
const MAX_LENGTH = 131_072;

const DEFLATED_PREFIX = "deflate:";

/** How the values of the handlers' subjects are read from an object. */
export interface RecordRules {
  /** The kind's version. */
  readonly apiVersion: string;
  /** The paths that the handlers depend on, without overlaps. */
  readonly paths: readonly Path[];
  /**
   * Returns the path of a handler's subject, or `undefined` if the subject is computed or `none`.
   */
  pathOf(key: string): Path | undefined;
  /** Returns the value of a handler's subject in a projection of an object at `paths`. */
  valueIn(key: string, projection: unknown): unknown;
  /** Returns whether a handler's subject is computed by a function of the user. */
  isComputed(key: string): boolean;
  /** Converts a projection of another version, and adds defaults. */
  adapt(projection: unknown, apiVersion: string): unknown;
}

/** The stored JSON. Names are stored with each object, so they must not change between releases. */
interface RecordJson extends Partial<ProgressJson> {
  /** The start of the object's uid. A record that was copied to another object is ignored. */
  readonly uid: string;
  /** The version of `observed`. */
  readonly apiVersion: string;
  /** The paths that `observed` contains. */
  readonly paths: readonly string[];
  /** The values at `paths` that were reconciled when the record was written. */
  readonly observed: unknown;
  /** Baselines of computed values: a list with the value, or an empty list for `undefined`. */
  readonly computed?: Readonly<Record<string, readonly unknown[]>>;
  /** Baselines that differ from `observed`: `null` before creation, otherwise a JSON patch. */
  readonly baselines?: Readonly<Record<string, null | readonly JsonPatchOperation[]>>;
  /** Handlers that were added for existing objects and have been called for this one. */
  readonly created?: readonly string[];
}

const FIELDS: readonly string[] = [
  "uid",
  "apiVersion",
  "paths",
  "observed",
  "computed",
  "baselines",
  "created",
  "attempts",
  "deleted",
  "failed",
  "steps",
];

/** Thrown if a record is too large to be stored. */
export class RecordTooLargeError extends Error {
  override name = "RecordTooLargeError";
  readonly code = "RecordTooLarge";
  /** The path with the largest value. */
  readonly path: string;

  constructor(length: number, path: string) {
    super(
      `Handler state: the record has ${length} characters, ${MAX_LENGTH} are allowed, and most of them are the value of ${
        JSON.stringify(path)
      }. Follow a narrower path, or set the option "storage" to storeIn(ConfigMap).`,
    );
    this.path = path;
  }
}

/**
 * Encodes a state as a record.
 *
 * @param set The handlers.
 * @param rules Reads their values from the object.
 * @param state The state to encode.
 * @param observed The projection of the object at `rules.paths` that the state describes.
 * @param unknown Fields of the stored record that a newer version of the SDK added.
 * @throws {RecordTooLargeError} If the record is too large.
 */
export function encodeRecord(
  set: HandlerSet,
  rules: RecordRules,
  state: HandlerState,
  observed: unknown,
  unknown: Readonly<Record<string, unknown>> = {},
): string {
  const { attempts, deleted, failed, steps } = progressOf(set, state);
  const baselines: [string, null | readonly JsonPatchOperation[]][] = [];
  const computed: [string, readonly unknown[]][] = [];
  for (const handler of set.handlers) {
    const { key } = handler;
    const baseline = state.baselines.get(key);
    if (baseline === undefined || handler.subject === "none" && baseline !== null) continue;
    if (baseline === null) baselines.push([key, null]);
    else if (rules.isComputed(key)) computed.push([key, baseline.value === undefined ? [] : [baseline.value]]);
    else if (!isSameFor(handler, baseline.value, rules.valueIn(key, observed))) {
      baselines.push([key, diffJson(observed, withBaseline(handler, rules, observed, baseline))]);
    }
  }
  const record: RecordJson = {
    ...unknown,
    uid: shortUid(state.uid),
    apiVersion: rules.apiVersion,
    paths: rules.paths.map(printPath),
    observed,
    ...optional("computed", Object.fromEntries(computed)),
    ...optional("baselines", Object.fromEntries(baselines)),
    ...optional(
      "created",
      set.handlers.filter(({ key, isForExistingObjects }) => isForExistingObjects && state.baselines.get(key) !== null)
        .map(({ key }) => key),
    ),
    ...optional("attempts", attempts),
    ...optional("deleted", deleted),
    ...optional("failed", failed),
    ...optional("steps", steps),
  };
  return compressed(escaped(JSON.stringify(record)), record);
}

/**
 * Escapes characters of JSON that Go escapes too. A JSON patch that tests the record compares the
 * escaped strings (see `runtime/object_patch.ts`).
 */
function escaped(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Returns a projection in which a handler's subject has the value of its baseline. */
function withBaseline(
  { key, subject }: HandlerDefinition,
  rules: RecordRules,
  observed: unknown,
  { value }: NonNullable<Baseline>,
): unknown {
  const stored = subject === "items" ? value === undefined ? undefined : Object.values(itemsOf(value)) : value;
  return withPart(observed, rules.pathOf(key) ?? [], stored);
}

function optional(name: string, value: readonly unknown[] | Readonly<Record<string, unknown>>): object {
  return Object.keys(value).length === 0 ? {} : { [name]: value };
}

function compressed(text: string, record: RecordJson): string {
  if (text.length <= MAX_PLAIN_LENGTH) return text;
  const deflated = DEFLATED_PREFIX + deflateRawSync(text).toString("base64");
  const shortest = deflated.length < text.length ? deflated : text;
  if (shortest.length > MAX_LENGTH) throw new RecordTooLargeError(shortest.length, largestPath(record));
  return shortest;
}

function largestPath({ paths, observed }: RecordJson): string {
  const sizeOf = (path: string) => JSON.stringify(valueAt(observed, parsePath(path)))?.length ?? 0;
  return paths.toSorted((a, b) => sizeOf(b) - sizeOf(a))[0] ?? "";
}

/** The content of a record. */
export interface DecodedRecord {
  readonly state: HandlerState;
  /** Whether the record must be written again because the handlers now depend on other values. */
  readonly isOutdated: boolean;
  /** Fields that this version of the SDK does not know. They are written back. */
  readonly unknown: Readonly<Record<string, unknown>>;
}

/** The current state of the object that a record belongs to. */
export interface RecordedObject {
  readonly uid: string;
  /** The projection of the object at the paths of the rules: the baseline of paths that are new. */
  readonly projection: unknown;
  /** The values of computed subjects by handler key: the baselines of functions that are new. */
  readonly computed: ReadonlyMap<string, unknown>;
}

/**
 * Decodes a record.
 *
 * @param set The handlers, which may have changed since it was written.
 * @param rules Reads their values from the object.
 * @param text The record.
 * @param live The object.
 * @returns The state, or `undefined` if the record belongs to another object.
 * @throws {SyntaxError} If the string is not a record.
 */
export function decodeRecord(
  set: HandlerSet,
  rules: RecordRules,
  text: string,
  live: RecordedObject,
): DecodedRecord | undefined {
  const record = parseRecord(text);
  if (record.uid !== shortUid(live.uid)) return undefined;
  const paths = record.paths.map(parsePath);
  const adapted = (projection: unknown) =>
    convertProjection(rules.adapt(projection, record.apiVersion), paths, rules.paths, live.projection);
  const observed = adapted(record.observed);
  const baselineOf = (handler: HandlerDefinition): Baseline => {
    const { key, subject } = handler;
    const patch = entryOf(record.baselines, handler);
    if (patch === null) return null;
    if (patch === undefined && handler.isForExistingObjects && !isIn(record.created, handler)) return null;
    if (rules.isComputed(key)) {
      const value = entryOf(record.computed, handler);
      return { value: value === undefined ? live.computed.get(key) : value[0] };
    }
    if (subject === "none") return { value: undefined };
    return {
      value: rules.valueIn(key, patch === undefined ? observed : adapted(applyJsonPatch(record.observed, patch))),
    };
  };
  const known = new Map(
    set.handlers.flatMap(({ key, renamedFrom = [] }) => [key, ...renamedFrom].map((old) => [old, key])),
  );
  const state: HandlerState = {
    ...initialState(set, live.uid),
    baselines: new Map(set.handlers.filter(hasBaseline).map((handler) => [handler.key, baselineOf(handler)])),
    attempts: withCurrentKeys(record.attempts, known, ([count, since]): Attempts => ({ count, since })),
    deleted: new Set((record.deleted ?? []).flatMap((key) => known.get(key) ?? [])),
    failed: withCurrentKeys(record.failed, known, (digest) => digest),
    steps: withCurrentKeys(record.steps, known, stepsOf),
  };
  const isCovered = rules.paths.every((path) => paths.some((outer) => isWithin(path, outer)));
  const isComputed = set.handlers.every((handler) =>
    !rules.isComputed(handler.key) || entryOf(record.computed, handler) !== undefined ||
    entryOf(record.baselines, handler) === null
  );
  return {
    state,
    isOutdated: !isCovered || !isComputed || record.apiVersion !== rules.apiVersion,
    unknown: Object.fromEntries(Object.entries(record).filter(([name]) => !FIELDS.includes(name))),
  };
}

/** Returns the first characters of a uid, which distinguish objects of the same name. */
function shortUid(uid: string): string {
  return uid.slice(0, 8);
}

function parseRecord(text: string): RecordJson {
  let record: unknown;
  try {
    const json = text.startsWith(DEFLATED_PREFIX)
      ? inflateRawSync(Buffer.from(text.slice(DEFLATED_PREFIX.length), "base64")).toString()
      : text;
    record = JSON.parse(json);
  } catch (cause) {
    throw new SyntaxError(`Handler state: the record is not JSON, nor deflated JSON: ${excerpt(text)}.`, { cause });
  }
  const { uid, apiVersion, paths } = isObject(record) ? record : {};
  if (typeof uid === "string" && typeof apiVersion === "string" && Array.isArray(paths)) return record as RecordJson;
  throw new SyntaxError(`Handler state: the record has no uid, apiVersion or paths: ${excerpt(text)}.`);
}

function excerpt(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text);
}

/**
 * Converts a projection at the paths `from` to the paths `to`. Values that are missing in the
 * projection are taken from the current object.
 */
function convertProjection(projection: unknown, from: readonly Path[], to: readonly Path[], live: unknown): unknown {
  let result: unknown = live;
  for (const path of from) {
    if (to.some((outer) => isWithin(path, outer))) result = withPart(result, path, valueAt(projection, path));
    else {
      for (const inner of to) {
        if (isWithin(inner, path)) result = withValueAt(result, inner, valueAt(projection, inner));
      }
    }
  }
  return project(result, to);
}

/**
 * Returns a copy of a projection in which a part has another value. The whole object, at the empty
 * path, does not include the status, which other handlers may follow.
 */
function withPart(projection: unknown, path: Path, value: unknown): unknown {
  if (path.length > 0) return withValueAt(projection, path, value);
  const status = valueAt(projection, ["status"]);
  return { ...itemsOf(value), ...(status === undefined ? {} : { status }) };
}

function entryOf<T>(
  entries: Readonly<Record<string, T>> | undefined,
  { key, renamedFrom = [] }: HandlerDefinition,
): T | undefined {
  for (const name of [key, ...renamedFrom]) {
    const entry = own(entries, name);
    if (entry !== undefined) return entry;
  }
  return undefined;
}

function isIn(keys: readonly string[] | undefined, { key, renamedFrom = [] }: HandlerDefinition): boolean {
  return [key, ...renamedFrom].some((name) => keys?.includes(name));
}

/** Renames entries to the current keys of their handlers. Drops those of removed handlers. */
function withCurrentKeys<T, R>(
  entries: Readonly<Record<string, T>> | undefined,
  known: ReadonlyMap<string, string>,
  convert: (entry: T) => R,
): Map<string, R> {
  return new Map(
    Object.entries(entries ?? {}).flatMap(([id, entry]): [string, R][] => {
      const { key } = callOf(id);
      const currentKey = known.get(key);
      return currentKey === undefined ? [] : [[currentKey + id.slice(key.length), convert(entry)]];
    }),
  );
}

function stepsOf(steps: Readonly<Record<string, StepJson>>): ReadonlyMap<string, StepState> {
  return new Map(
    Object.entries(steps).map(([key, step]): [string, StepState] =>
      "attempts" in step
        ? [key, { attempts: step.attempts[0], since: step.attempts[1] }]
        : [key, { result: step.result, isKept: step.isKept === true }]
    ),
  );
}
