/** The handler state of an object, which records the changes that were handled. */
import { equal } from "../base/json.ts";
import { type HandlerDefinition, type HandlerSet, hasBaseline, isLimited } from "./handler_set.ts";

/**
 * The value of a handler's subject in its last successful call, or `null` before its first one. The
 * value of an `items` subject is an object with the items by their keys.
 */
export type Baseline = { readonly value: unknown } | null;

/** Failed attempts of a call. */
export interface Attempts {
  readonly count: number;
  /** When the first attempt began, in milliseconds since the epoch. */
  readonly since: number;
  /** When the next attempt is due, in milliseconds since the epoch. Not stored. */
  readonly dueAt?: number | undefined;
  /**
   * The digest of the object in the last attempt. A change of the digest ends the delay. Not
   * stored.
   */
  readonly digest?: string | undefined;
}

/** The result of a step of a handler, or its failed attempts. */
export type StepState =
  | { readonly result: unknown; readonly isKept: boolean }
  | { readonly attempts: number; readonly dueAt?: number | undefined };

/** The handler state of an object. It is stored as a record; see {@linkcode encodeRecord}. */
export interface HandlerState {
  /** The uid of the object. State of another object is ignored. */
  readonly uid: string;
  /** The baselines of all handlers that have one. */
  readonly baselines: ReadonlyMap<string, Baseline>;
  /** Failed attempts of unfinished calls. By {@linkcode CallId}. */
  readonly attempts: ReadonlyMap<string, Attempts>;
  /** Delete handlers that succeeded. */
  readonly deleted: ReadonlySet<string>;
  /** Calls that gave up, with the digest of the object they received. By {@linkcode CallId}. */
  readonly failed: ReadonlyMap<string, string>;
  /** Steps of unfinished calls by their keys. By {@linkcode CallId}. */
  readonly steps: ReadonlyMap<string, ReadonlyMap<string, StepState>>;
  /**
   * Handlers that this process called with the cause `resume` while it was the leader. Not stored.
   */
  readonly resumed: ReadonlySet<string>;
}

/** Identifies a call: the key of the handler, followed by the key of the item or by the cause. */
export type CallId = string;

/**
 * Returns the identity of a call.
 *
 * @param key Key of the handler.
 * @param what The key of an item, or a cause that has its own state.
 */
export function callId(key: string, what?: { readonly item: string } | "resume" | "delete"): CallId {
  if (what === undefined) return key;
  return typeof what === "string" ? `${key}:${what}` : `${key}[${what.item}]`;
}

/** Splits the identity of a call into the key of its handler, and its item or cause. */
export function callOf(id: CallId): { readonly key: string; readonly item?: string; readonly cause?: string } {
  const [, key = "", cause, item] = /^([^[:]*)(?::(resume|delete)|\[(.*)\])?$/s.exec(id) ?? [];
  return { key, ...(cause === undefined ? {} : { cause }), ...(item === undefined ? {} : { item }) };
}

/** Returns the state of an object for which no handler was called yet. */
export function initialState({ handlers }: HandlerSet, uid: string): HandlerState {
  return {
    uid,
    baselines: new Map(handlers.filter(hasBaseline).map(({ key }) => [key, null])),
    attempts: new Map(),
    deleted: new Set(),
    failed: new Map(),
    steps: new Map(),
    resumed: new Set(),
  };
}

/** Returns whether two states have the same record. */
export function haveSameRecord(set: HandlerSet, one: HandlerState, other: HandlerState): boolean {
  return equal(stored(set, one), stored(set, other));
}

function stored({ handlers }: HandlerSet, state: HandlerState): unknown {
  const limited = new Set(handlers.filter(isLimited).map(({ key }) => key));
  return {
    baselines: Object.fromEntries(state.baselines),
    attempts: [...state.attempts].filter(([id]) => isAttemptStored(limited, id))
      .map(([id, { count, since }]) => [id, count, since]).sort(byFirst),
    deleted: [...state.deleted].sort(),
    failed: [...state.failed].filter(([id]) => isStored(id)).sort(byFirst),
    steps: [...state.steps].filter(([id]) => isStored(id)).map(([id, steps]) => [
      id,
      [...steps].map(([key, step]) => "result" in step ? [key, step] : [key, step.attempts]).sort(byFirst),
    ]).sort(byFirst),
  };
}

/** Returns whether the attempts of a call are stored. */
export function isAttemptStored(limited: ReadonlySet<string>, id: CallId): boolean {
  return isStored(id) && limited.has(callOf(id).key);
}

/**
 * Returns whether the state of a call is stored. The state of `resume` calls ends with the process.
 */
export function isStored(id: CallId): boolean {
  return !id.endsWith(":resume");
}

function byFirst([one]: readonly unknown[], [other]: readonly unknown[]): number {
  return String(one) < String(other) ? -1 : 1;
}

/** Returns the definitions of handlers by their keys. */
export function byKey({ handlers }: HandlerSet): ReadonlyMap<string, HandlerDefinition> {
  return new Map(handlers.map((handler) => [handler.key, handler]));
}
