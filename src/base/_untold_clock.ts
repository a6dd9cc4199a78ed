/** A clock that does not say what time it is. */
import type { Clock } from "./clock.ts";

/**
 * A clock for what measures how long something took, waits or is held: a machine's time of day may be set meanwhile, so that it must not ask for it.
 *
 * @param clock Whose time passes.
 */
export function untold(clock: Clock): Clock {
  return {
    now() {
      throw new Error("Cannot say what time it is: whatever waits goes by the time that passed");
    },
    elapsed: () => clock.elapsed(),
    after: (delay, callback) => clock.after(delay, callback),
  };
}
