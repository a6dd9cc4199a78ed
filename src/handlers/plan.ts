/** Decides which handlers are called for an object. */
import { isObject } from "../base/json.ts";
import { own } from "../base/own.ts";
import { type CallId, callId } from "./call_id.ts";
import { type HandlerDefinition, type HandlerSet, hasBaseline, isSameFor } from "./handler_set.ts";
import type { Live } from "./live.ts";
import { type Baseline, gaveUp, type HandlerState, initialState, isCreating } from "./state.ts";

/** One change of an object that is delivered to one handler, over all attempts. */
export interface Call {
  readonly id: CallId;
  /** The key of the handler. */
  readonly key: string;
  readonly cause: Cause | ItemCause | "timer";
  /** The key of the item, if the handler follows items. */
  readonly item?: string;
  /** The value in the last successful call, or `undefined` at creation. */
  readonly old: unknown;
  readonly current: unknown;
  /** Number of this attempt, from 1. */
  readonly attempt: number;
}

type Cause = "create" | "update" | "delete" | "resume";
type ItemCause = "added" | "changed" | "removed";

/** The calls that are due for an object, and the change of its finalizer. */
export interface Plan {
  /**
   * `add`: add the finalizer before the calls. `remove`: the deletion was handled, or no handler
   * for it is left.
   */
  readonly finalizer: "add" | "remove" | "keep";
  /** The calls that are due, in the order of the handlers. */
  readonly calls: readonly Call[];
  /** When the next attempt is due, in milliseconds since the epoch. */
  readonly nextDueAt: number | undefined;
  /** Delete handlers that gave up and block the deletion of the object. */
  readonly blockedBy: readonly string[];
}

/**
 * Returns the calls that are due for an object. The result depends on the arguments only.
 *
 * A handler is called with `create` if it has no baseline, and with `update` if its value differs
 * from its baseline. Updates wait until the creation was handled.
 *
 * @param set The handlers.
 * @param live The object.
 * @param state The handler state of the object, or `undefined` if none is stored.
 * @param now The time in milliseconds since the epoch.
 */
export function plan(set: HandlerSet, live: Live, state: HandlerState | undefined, now: number): Plan {
  const known = state?.uid === live.uid ? state : initialState(set, live.uid);
  const planner = new Planner(live, known, now);
  const matching = set.handlers.filter(({ key }) => live.matching.has(key));
  // Without a stored state, the object is new, so `create` is due instead of `resume`. If no
  // handler has a baseline, no state is stored, and `resume` is due for all objects found at start.
  const isNew = known !== state && set.handlers.some(hasBaseline);
  if (live.isFoundAtStart && (!isNew || live.isDeleting)) planner.resume(matching);
  if (live.isDeleting) return planner.deletion(matching);
  planner.changes(matching);
  const needsFinalizer = matching.some(({ causes }) => causes.has("delete"));
  return planner.result(needsFinalizer === live.hasFinalizer ? "keep" : needsFinalizer ? "add" : "remove");
}

/** Collects the calls for an object. */
class Planner {
  readonly #live: Live;
  readonly #state: HandlerState;
  readonly #now: number;
  readonly #calls: Call[] = [];
  #nextDueAt: number | undefined;
  readonly #blockedBy: string[] = [];

  constructor(live: Live, state: HandlerState, now: number) {
    this.#live = live;
    this.#state = state;
    this.#now = now;
  }

  result(finalizer: Plan["finalizer"]): Plan {
    return { finalizer, calls: this.#calls, nextDueAt: this.#nextDueAt, blockedBy: this.#blockedBy };
  }

  resume(handlers: readonly HandlerDefinition[]): void {
    for (const { key, causes } of handlers) {
      if (!causes.has("resume") || this.#state.resumed.has(key)) continue;
      // A handler for which `create` is due does not also get `resume`.
      if (!this.#live.isDeleting && causes.has("create") && this.#state.baselines.get(key) === null) continue;
      const current = this.#live.values.get(key);
      this.#add({ id: callId(key, "resume"), key, cause: "resume", old: undefined, current });
    }
  }

  deletion(handlers: readonly HandlerDefinition[]): Plan {
    const { hasFinalizer } = this.#live;
    if (!hasFinalizer) return this.result("keep");
    let isHandled = true;
    for (const { key, causes, onFailure } of handlers) {
      if (!causes.has("delete") || this.#state.deleted.has(key)) continue;
      const id = callId(key, "delete");
      if (this.#gaveUp(id)) {
        if (onFailure !== "allowDeletion") this.#blockedBy.push(key);
        continue;
      }
      isHandled = false;
      this.#add({ id, key, cause: "delete", old: undefined, current: this.#live.values.get(key) });
    }
    return this.result(isHandled && this.#blockedBy.length === 0 ? "remove" : "keep");
  }

  changes(handlers: readonly HandlerDefinition[]): void {
    const updatesWait = isCreating(handlers, this.#state, this.#live);
    for (const handler of handlers) {
      if (!hasBaseline(handler)) continue;
      if (handler.subject === "items") this.#items(handler, updatesWait);
      else this.#change(handler, updatesWait);
    }
  }

  #change(handler: HandlerDefinition, updatesWait: boolean): void {
    const { key, causes, subject } = handler;
    const baseline = this.#baseline(key);
    const current = this.#live.values.get(key);
    const call = { id: callId(key), key, current };
    if (baseline === null) {
      if (!causes.has("create") || (subject === "value" && current === undefined)) return;
      if (!this.#gaveUp(call.id)) this.#add({ ...call, cause: "create", old: undefined });
    } else if (causes.has("update") && !updatesWait && !isSameFor(handler, baseline.value, current)) {
      if (!this.#gaveUp(call.id)) this.#add({ ...call, cause: "update", old: baseline.value });
    }
  }

  #items(handler: HandlerDefinition, updatesWait: boolean): void {
    const { key } = handler;
    const baseline = this.#baseline(key);
    const before = itemsOf(baseline?.value);
    const after = itemsOf(this.#live.values.get(key));
    if (updatesWait && baseline !== null) return;
    for (const item of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const [old, current] = [own(before, item), own(after, item)];
      const id = callId(key, { item });
      if (isSameFor(handler, old, current) || this.#gaveUp(id)) continue;
      const cause = old === undefined ? "added" : current === undefined ? "removed" : "changed";
      this.#add({ id, key, item, cause, old, current });
    }
  }

  #baseline(key: string): Baseline {
    return this.#state.baselines.get(key) ?? null;
  }

  #gaveUp(id: CallId): boolean {
    return gaveUp(this.#state.failed, this.#live, id);
  }

  #add(call: Omit<Call, "attempt">): void {
    const attempts = this.#state.attempts.get(call.id);
    const dueAt = attempts?.dueAt ?? 0;
    if (dueAt > this.#now && attempts?.digest === this.#live.digest(call.id)) {
      this.#nextDueAt = Math.min(this.#nextDueAt ?? Infinity, dueAt);
    } else this.#calls.push({ ...call, attempt: (attempts?.count ?? 0) + 1 });
  }
}

/** Returns items by their keys. Returns an empty object if the value has no items. */
export function itemsOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}
