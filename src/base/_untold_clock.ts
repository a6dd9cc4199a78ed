/** A clock without the time of day. */
import type { Clock } from "./clock.ts";

/**
 * Returns a clock without `now()`, for code that measures or waits. The machine's time of day may
 * be set at any moment, so such code must not use it.
 *
 * @param clock The underlying clock.
 */
export function untold(clock: Clock): Clock {
  return {
    now() {
      throw new Error(
        "Cannot read the time of day: code that measures or waits must use elapsed(). Use Clock.elapsed()",
      );
    },
    elapsed: () => clock.elapsed(),
    after: (delay, callback) => clock.after(delay, callback),
  };
}
