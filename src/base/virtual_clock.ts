import type { Clock } from "./clock.ts";
import { DueHeap } from "./due_heap.ts";

/**
 * A clock whose time changes only when a test advances it. Timers run in order of their due times,
 * or in the order of their creation if these are equal.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { createApiserver, VirtualClock } from "@op/sdk/testing";
 *
 * const clock = new VirtualClock();
 * await using apiserver = createApiserver({ clock });
 * clock.step(clock.now() + 60_000);
 * const response = await apiserver.fetch(
 *   new Request("http://apiserver/api/v1/namespaces/default"),
 * );
 * assert.equal((await response.json()).metadata.creationTimestamp, "2030-01-01T00:00:00Z");
 * ```
 */
export class VirtualClock implements Clock {
  readonly #start: number;
  #now: number;
  /** Callbacks of the pending timers, by due time. */
  readonly #timers = new DueHeap<() => void>();

  /**
   * Creates a clock whose time only changes when it is advanced.
   *
   * @param start The initial time in milliseconds since the epoch. @default {2030-01-01T00:00:00Z}
   */
  constructor(start: number = Date.UTC(2030, 0, 1)) {
    this.#start = this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  /** Starts at zero, so that code that confuses it with `now()` fails in tests. */
  elapsed(): number {
    return this.#now - this.#start;
  }

  after(delay: number, callback: () => void): Disposable {
    const timer = this.#timers.add(this.#now + Math.max(0, delay), callback);
    return { [Symbol.dispose]: () => void this.#timers.delete(timer) };
  }

  /**
   * The due time of the next timer in milliseconds since the epoch; `undefined` if there is none.
   */
  get nextDue(): number | undefined {
    return this.#timers.first?.due;
  }

  /**
   * Moves to the next timer that is due at or before `until`, and runs it.
   *
   * @param until The latest time to move to, in milliseconds since the epoch.
   * @returns Whether a timer ran. If not, the time is `until`, or unchanged if that is in the past.
   */
  step(until: number): boolean {
    const next = this.#timers.first;
    if (next === undefined || next.due > until) {
      this.#now = Math.max(this.#now, until);
      return false;
    }
    this.#timers.delete(next);
    this.#now = Math.max(this.#now, next.due);
    next.value();
    return true;
  }
}
