/** Computes the handler state of an object after calls of its handlers. */
import { own, withKeys } from "../base/own.ts";
import { type CallId, callOf } from "./call_id.ts";
import { type HandlerDefinition, type HandlerSet, hasBaseline, isCreator, isSameFor } from "./handler_set.ts";
import type { Live } from "./live.ts";
import { type Call, itemsOf } from "./plan.ts";
import {
  type Attempts,
  type Baseline,
  byKey,
  type HandlerState,
  haveSameRecord,
  initialState,
  isCreating,
  type StepState,
} from "./state.ts";

/** How a call ended. */
export interface Outcome {
  readonly call: Call;
  /**
   * `pending` means that a step of the call waits for its next attempt, which does not count as an
   * attempt of the call.
   */
  readonly result: "success" | "failure" | "permanent failure" | "pending";
  /** When a failed or pending call is due again, in milliseconds since the epoch. */
  readonly dueAt?: number | undefined;
  /** When the call began, in milliseconds since the epoch. */
  readonly since: number;
  /** The steps of the call by their keys. */
  readonly steps?: ReadonlyMap<string, StepState>;
}

/** A call that is not retried until the object changes. */
export interface GaveUp {
  readonly call: Call;
  readonly reason: "PermanentError" | "RetriesExhausted" | "TimedOut";
}

/** The state after calls. */
export interface NextState {
  readonly state: HandlerState;
  /** Whether the state must be stored. */
  readonly write: boolean;
  readonly gaveUp: readonly GaveUp[];
}

/**
 * Returns the handler state of an object after calls of its handlers. The result depends on the
 * arguments only.
 *
 * @param set The handlers.
 * @param live The object that the calls received.
 * @param state The state before the calls, or `undefined` if none is stored.
 * @param outcomes How the calls ended.
 * @param now The time in milliseconds since the epoch.
 */
export function nextState(
  set: HandlerSet,
  live: Live,
  state: HandlerState | undefined,
  outcomes: readonly Outcome[],
  now: number,
): NextState {
  const before = state?.uid === live.uid ? state : initialState(set, live.uid);
  const after = new Draft(set, live, before, now);
  for (const outcome of outcomes) after.add(outcome);
  if (!live.isDeleting) after.setInitialBaselines(outcomes);
  after.dropObsolete();
  const next = after.state();
  return { state: next, write: !haveSameRecord(set, before, next), gaveUp: after.gaveUp };
}

/** A state under construction. */
class Draft {
  readonly #set: HandlerSet;
  readonly #handlers: ReadonlyMap<string, HandlerDefinition>;
  readonly #live: Live;
  readonly #now: number;
  readonly #before: HandlerState;
  readonly #baselines: Map<string, Baseline>;
  readonly #attempts: Map<CallId, Attempts>;
  readonly #deleted: Set<string>;
  readonly #failed: Map<CallId, string>;
  readonly #steps: Map<CallId, ReadonlyMap<string, StepState>>;
  readonly #resumed: Set<string>;
  readonly gaveUp: GaveUp[] = [];

  constructor(set: HandlerSet, live: Live, before: HandlerState, now: number) {
    this.#set = set;
    this.#handlers = byKey(set);
    this.#live = live;
    this.#now = now;
    this.#before = before;
    this.#baselines = new Map(before.baselines);
    this.#attempts = new Map(before.attempts);
    this.#deleted = new Set(before.deleted);
    this.#failed = new Map(before.failed);
    this.#steps = new Map(before.steps);
    this.#resumed = new Set(before.resumed);
  }

  state(): HandlerState {
    return {
      uid: this.#before.uid,
      baselines: this.#baselines,
      attempts: this.#attempts,
      deleted: this.#deleted,
      failed: this.#failed,
      steps: this.#steps,
      resumed: this.#resumed,
    };
  }

  add(outcome: Outcome): void {
    const { call: { id }, result, steps } = outcome;
    if (steps !== undefined) this.#setSteps(id, steps);
    switch (result) {
      case "success":
        return this.#succeed(outcome.call);
      case "permanent failure":
        return this.#giveUp(outcome.call, "PermanentError");
      case "failure":
        return this.#retry(outcome);
      case "pending":
        return void this.#attempts.set(id, {
          ...this.#attemptsOf(outcome),
          dueAt: outcome.dueAt,
          digest: this.#live.digest(id),
        });
    }
  }

  /**
   * Sets the baselines of handlers that are not called at creation. The baseline is the state that
   * the first successful create handler received. Without create handlers, it is the first state of
   * the object.
   */
  setInitialBaselines(outcomes: readonly Outcome[]): void {
    const matching = this.#set.handlers.filter(({ key }) => this.#live.matching.has(key));
    const isCreated = outcomes.some(({ call: { key, cause }, result }) =>
      cause === "create" && result === "success" && isCreator(this.#handlers.get(key)!)
    );
    const updatesWait = isCreating(matching, { baselines: this.#baselines, failed: this.#failed }, this.#live);
    for (const handler of matching) {
      if (!hasBaseline(handler) || this.#baselines.get(handler.key) !== null) continue;
      const value = this.#live.values.get(handler.key);
      const hasNoValue = handler.subject === "value" && value === undefined ||
        handler.subject === "items" && Object.keys(itemsOf(value)).length === 0;
      const startsNow = !handler.causes.has("create") && (isCreated || !updatesWait);
      if (hasNoValue || startsNow) this.#baselines.set(handler.key, { value });
    }
  }

  /** Drops the state of calls that are no longer due because their change was reverted. */
  dropObsolete(): void {
    for (const id of [...this.#attempts.keys(), ...this.#failed.keys(), ...this.#steps.keys()]) {
      if (!this.#isObsolete(id)) continue;
      this.#attempts.delete(id);
      this.#failed.delete(id);
      this.#dropSteps(id);
    }
  }

  #isObsolete(id: CallId): boolean {
    const { key, item, cause } = callOf(id);
    const handler = this.#handlers.get(key);
    if (handler === undefined) return true;
    const baseline = this.#baselines.get(key);
    if (cause !== undefined || !baseline) return false;
    const current = this.#live.values.get(key);
    if (item === undefined) return isSameFor(handler, baseline.value, current);
    return isSameFor(handler, own(itemsOf(baseline.value), item), own(itemsOf(current), item));
  }

  #succeed(call: Call): void {
    const { id, key, cause, item } = call;
    this.#attempts.delete(id);
    this.#failed.delete(id);
    this.#dropSteps(id);
    if (cause === "delete") this.#deleted.add(key);
    else if (cause === "resume") this.#resumed.add(key);
    else if (item === undefined) this.#baselines.set(key, { value: call.current });
    else {
      const items = itemsOf(this.#baselines.get(key)?.value);
      this.#baselines.set(key, { value: withKeys(items, [[item, call.current]]) });
    }
  }

  /**
   * Drops the steps of a call, except those whose results are stored as long as the object exists.
   */
  #dropSteps(id: CallId): void {
    const remaining = [...this.#steps.get(id) ?? []].filter(([, step]) => "result" in step && step.isKept);
    this.#setSteps(id, new Map(remaining));
  }

  #setSteps(id: CallId, steps: ReadonlyMap<string, StepState>): void {
    if (steps.size === 0) this.#steps.delete(id);
    else this.#steps.set(id, steps);
  }

  #retry(outcome: Outcome): void {
    const { call } = outcome;
    const { retries, totalTimeout } = this.#handlers.get(call.key)!;
    const { since } = this.#attemptsOf(outcome);
    const count = call.attempt;
    if (retries !== undefined && count >= retries) this.#giveUp(call, "RetriesExhausted");
    else if (totalTimeout !== undefined && this.#now - since >= totalTimeout) this.#giveUp(call, "TimedOut");
    else this.#attempts.set(call.id, { count, since, dueAt: outcome.dueAt, digest: this.#live.digest(call.id) });
  }

  #attemptsOf({ call: { id }, since }: Outcome): Attempts {
    return { count: 0, since, digest: this.#live.digest(id), ...this.#attempts.get(id) };
  }

  #giveUp(call: Call, reason: GaveUp["reason"]): void {
    this.#attempts.delete(call.id);
    // If a change starts the call again, its steps have all attempts again.
    const results = [...this.#steps.get(call.id) ?? []].filter(([, step]) => "result" in step);
    this.#setSteps(call.id, new Map(results));
    this.#failed.set(call.id, this.#live.digest(call.id));
    if (call.cause === "resume") this.#resumed.add(call.key);
    this.gaveUp.push({ call, reason });
  }
}
