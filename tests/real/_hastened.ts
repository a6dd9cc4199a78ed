/** A clock for waiting less long on a real server. */
import type { Clock } from "../../src/base/clock.ts";

/** A clock on which time goes by so many times faster than the machine's. */
export function hastened(clock: Clock, times: number): Clock {
  const [now, elapsed] = [clock.now(), clock.elapsed()];
  return {
    now: () => now + (clock.now() - now) * times,
    elapsed: () => elapsed + (clock.elapsed() - elapsed) * times,
    after: (delay, callback) => clock.after(delay / times, callback),
  };
}
