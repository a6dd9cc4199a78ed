/**
 * Waits for conditions in tests that no watch or log line announces: caches of a server, processes
 * of the machine.
 */
import { sleep, systemClock } from "../src/base/clock.ts";

/**
 * How long a test may wait for one condition, in milliseconds. It guards against hangs and measures
 * nothing: a busy machine that is several times slower must stay far below it.
 */
export const HANG_LIMIT = 180_000;

/** Options for {@linkcode eventually}. */
export interface EventuallyOptions {
  /** How long to wait, in milliseconds. @default {HANG_LIMIT} */
  readonly limit?: number;
  /** Pause between two checks, in milliseconds. @default {20} */
  readonly pause?: number;
  /** Describes the state, for the error, when the check itself says too little. */
  readonly state?: () => string;
}

/**
 * Calls a check until it passes. A check fails by throwing or by returning `false`.
 *
 * Use it for every assertion about something that happens at its own time. An assertion that only
 * follows such a wait, but is about something else, is a race.
 *
 * @param check Asserts the condition.
 * @param options Limit, pause and a description of the state.
 * @returns What the check returns.
 * @throws {Error} If the check never passed. The message has the last failure, which is also the
 *   cause.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const requests: string[] = [];
 * setTimeout(() => requests.push("GET /"));
 * await eventually(() => assert.deepEqual(requests, ["GET /"]));
 * ```
 */
export async function eventually<T>(check: () => Promise<T> | T, options: EventuallyOptions = {}): Promise<T> {
  const { limit = HANG_LIMIT, pause = 20, state } = options;
  const end = systemClock.elapsed() + limit;
  for (let checks = 1;; checks++) {
    let failure: unknown;
    try {
      const result = await check();
      if (result !== false) return result;
      failure = new Error(`the check returned false: ${check}`);
    } catch (error) {
      failure = error;
    }
    if (systemClock.elapsed() > end) {
      const last = failure instanceof Error ? failure.message : Deno.inspect(failure);
      const shown = state === undefined ? "" : `\n${state()}`;
      throw new Error(
        `eventually(): the condition did not hold after ${checks} checks in ${limit} ms: ${last}${shown}`,
        {
          cause: failure,
        },
      );
    }
    await sleep(systemClock, pause);
  }
}
