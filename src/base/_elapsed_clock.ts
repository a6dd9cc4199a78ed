/** A clock that only measures elapsed time. */
import type { Clock } from "./clock.ts";

/**
 * Returns a clock without `now()`, for code that measures or waits. The machine's time of day may
 * be set at any moment, so such code must not use it.
 *
 * @param clock The underlying clock.
 */
export function elapsedOnly(clock: Clock): Clock {
  return {
    now() {
      throw new Error("Clock.now(): code that measures or waits must not use the time of day. Use elapsed().");
    },
    elapsed: () => clock.elapsed(),
    after: (delay, callback) => clock.after(delay, callback),
  };
}
