/** Waiting for what tells nobody: a server's caches of roles and of kinds, processes of the machine. */
import { sleep, systemClock } from "../../src/base/clock.ts";

const USUAL_WAIT = 10_000;

/**
 * Calls a check until it passes, and fails with what it threw last when that takes too long.
 *
 * @param check Throws as long as things are not as they should be.
 * @param longest How long it may take, in milliseconds. @default {10_000}
 * @returns What the check answers.
 */
export async function soon<T>(check: () => Promise<T> | T, longest = USUAL_WAIT): Promise<T> {
  for (const end = systemClock.now() + longest;;) {
    try {
      return await check();
    } catch (error) {
      if (systemClock.now() > end) throw error;
    }
    await sleep(systemClock, 20);
  }
}
