/**
 * Uncaught errors of user code. A promise that is not awaited must not end the operator for all
 * other objects.
 */
import { currentRunLog } from "../runtime/current_run.ts";
import { systemClock } from "../base/clock.ts";
import { LogLimit } from "../runtime/log_limit.ts";
import type { Logger } from "../runtime/logger.ts";

/**
 * Counts and logs uncaught errors, which would otherwise end the process.
 *
 * @param log Logs errors that belong to no known reconcile.
 * @param count Called for each error.
 */
export function listenToStrayErrors(log: Logger, count: () => void): void {
  // A webhook request can trigger them.
  const limit = new LogLimit({ clock: systemClock });
  const write = (message: string, error: unknown): void => {
    count();
    const limited = limit.next(message);
    if (limited !== undefined) (currentRunLog() ?? log).error(message, { error, ...limited });
  };
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    write("Unhandled rejection in user code: await every promise", event.reason);
  });
  globalThis.addEventListener("error", (event) => {
    event.preventDefault();
    write("Uncaught error in user code", event.error);
  });
}
