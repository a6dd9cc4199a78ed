/** The handler state of an object, which records the changes that were handled. */
import { equal } from "../base/json.ts";
import { type CallId, callId, callOf } from "./call_id.ts";
import { type HandlerDefinition, type HandlerSet, hasBaseline, isCreator, isLimited } from "./handler_set.ts";
import type { Live } from "./live.ts";

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
  | {
    readonly attempts: number;
    /**
     * When the first attempt began, in milliseconds since the epoch. It is set if the number or the
     * duration of the attempts is limited. Other attempts are not stored.
     */
    readonly since?: number | undefined;
    /** When the next attempt is due, in milliseconds since the epoch. Not stored. */
    readonly dueAt?: number | undefined;
  };

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
  const stored = (state: HandlerState) => [Object.fromEntries(state.baselines), progressOf(set, state)];
  return equal(stored(one), stored(other));
}

/** The content of a record other than its baselines, as JSON. */
export interface ProgressJson {
  readonly attempts: Readonly<Record<CallId, readonly [count: number, since: number]>>;
  readonly deleted: readonly string[];
  readonly failed: Readonly<Record<CallId, string>>;
  readonly steps: Readonly<Record<CallId, Readonly<Record<string, StepJson>>>>;
}

/** A step as JSON. A result of `undefined` is omitted. */
export type StepJson =
  | { readonly result?: unknown; readonly isKept?: true }
  | { readonly attempts: readonly [count: number, since: number] };

/** Returns the part of a state that is stored besides its baselines. */
export function progressOf({ handlers }: HandlerSet, state: HandlerState): ProgressJson {
  const limited = new Set(handlers.filter(isLimited).map(({ key }) => key));
  const attempts = [...state.attempts].filter(([id]) => isStored(id) && limited.has(callOf(id).key));
  return {
    attempts: Object.fromEntries(attempts.map(([id, { count, since }]) => [id, [count, since]])),
    deleted: [...state.deleted].sort(),
    failed: Object.fromEntries([...state.failed].filter(([id]) => isStored(id))),
    steps: Object.fromEntries(
      [...state.steps].flatMap(([id, steps]): [CallId, Record<string, StepJson>][] => {
        const stored = isStored(id) ? stepsJson(steps) : {};
        return Object.keys(stored).length === 0 ? [] : [[id, stored]];
      }),
    ),
  };
}

function stepsJson(steps: ReadonlyMap<string, StepState>): Record<string, StepJson> {
  return Object.fromEntries(
    [...steps].flatMap(([key, step]): [string, StepJson][] => {
      if (!("result" in step)) {
        const { attempts, since } = step;
        return since === undefined ? [] : [[key, { attempts: [attempts, since] }]];
      }
      const { result, isKept } = step;
      return [[key, { ...(result === undefined ? {} : { result }), ...(isKept ? { isKept } : {}) }]];
    }),
  );
}

/**
 * Returns whether the state of a call is stored. The state of `resume` calls ends with the process.
 */
function isStored(id: CallId): boolean {
  return callOf(id).cause !== "resume";
}

/** Returns whether a call gave up on what it would receive now. */
export function gaveUp(failed: ReadonlyMap<CallId, string>, live: Live, id: CallId): boolean {
  const digest = failed.get(id);
  return digest !== undefined && digest === live.digest(id);
}

/** Returns whether a create handler is due or waits for its next attempt. Updates wait for it. */
export function isCreating(
  matching: readonly HandlerDefinition[],
  { baselines, failed }: Pick<HandlerState, "baselines" | "failed">,
  live: Live,
): boolean {
  return matching.some((handler) =>
    isCreator(handler) && (baselines.get(handler.key) ?? null) === null && !gaveUp(failed, live, callId(handler.key))
  );
}

/** Returns the definitions of handlers by their keys. */
export function byKey({ handlers }: HandlerSet): ReadonlyMap<string, HandlerDefinition> {
  return new Map(handlers.map((handler) => [handler.key, handler]));
}
