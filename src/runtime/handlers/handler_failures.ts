/** The handlers of an object that failed, and how they are reported in its status. */
import { type CallId, callOf } from "../../handlers/call_id.ts";
import type { GaveUp } from "../../handlers/next_state.ts";
import type { HandlerState } from "../../handlers/state.ts";
import { failureOf } from "../failure.ts";
import type { UnitFailure } from "../scope.ts";
import type { CallFailure } from "./handler_call.ts";

/** The last failure of a call. */
export interface LastFailure {
  readonly key: string;
  readonly reason: string;
  readonly message: string;
}

/** The last failures of an object's calls. */
export class HandlerFailures {
  readonly #failures = new Map<CallId, LastFailure>();

  /** Records a failed call. */
  set(id: CallId, key: string, { message }: CallFailure, reason: string): void {
    this.#failures.set(id, { key, reason, message });
  }

  /** Removes the last failure of a call. */
  delete(id: CallId): void {
    this.#failures.delete(id);
  }

  /**
   * Returns what is reported of failed handlers, and forgets failures of calls that are not due any
   * more.
   *
   * @param state The state after the calls.
   * @param errors Errors of filters and other functions, by handler, because of which the handlers
   * are not called.
   * @param count Number of handlers that match the object or have such an error.
   * @param timers The failures of timers.
   * @returns The failure, or `undefined` if no handler waits for a retry, gave up or has an error.
   */
  summary(
    state: HandlerState,
    errors: ReadonlyMap<string, unknown>,
    count: number,
    timers: readonly LastFailure[],
  ): UnitFailure | undefined {
    for (const id of [...this.#failures.keys()]) {
      if (!state.attempts.has(id) && !state.failed.has(id)) this.#failures.delete(id);
    }
    const failures = [...this.#failures.values()];
    for (const id of state.failed.keys()) {
      if (!this.#failures.has(id)) {
        failures.push({ key: callOf(id).key, reason: "GaveUp", message: "gave up before this process started" });
      }
    }
    for (const [key, error] of errors) failures.push({ ...failureOf(error, 1, key, 1), key });
    failures.push(...timers);
    const [first] = failures;
    if (first === undefined) return undefined;
    const failed = new Set(failures.map(({ key }) => key)).size;
    const messages = failures.map(({ key, message }) => `${key}: ${message}`).join("; ");
    return {
      reason: first.reason,
      message: `${failed} of ${count} handlers failed. ${messages}`,
      isStalled: state.attempts.size === 0 && timers.length === 0,
    };
  }
}

/** Returns the reason for a condition or an Event. */
export function reasonOf(gaveUp: GaveUp | undefined, failure: CallFailure): string {
  return gaveUp === undefined || gaveUp.reason === "PermanentError" ? failure.reason : gaveUp.reason;
}
