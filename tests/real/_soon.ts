/** Waiting for what tells nobody: a server's caches of roles and of kinds, processes of the machine. */
import { sleep, systemClock } from "../../src/base/clock.ts";

const LONGEST_WAIT = 10_000;

/**
 * Calls a check until it passes, and fails with what it threw last after ten seconds.
 *
 * @param check Throws as long as things are not as they should be.
 * @returns What the check answers.
 */
export async function soon<T>(check: () => Promise<T> | T): Promise<T> {
  for (const end = systemClock.now() + LONGEST_WAIT;;) {
    try {
      return await check();
    } catch (error) {
      if (systemClock.now() > end) throw error;
    }
    await sleep(systemClock, 20);
  }
}
