/** Errors of user code that nobody caught: a promise that nobody waited for must not end the operator for all other objects. */
import { currentRunLog } from "../runtime/current_run.ts";
import type { Logger } from "../runtime/logger.ts";

/**
 * Counts and logs them, where the process would end.
 *
 * @param log Takes those of which nobody knows the run.
 * @param count Counts one.
 */
export function listenToStrayErrors(log: Logger, count: () => void): void {
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    count();
    (currentRunLog() ?? log).error("Unhandled rejection in user code: await every promise", { error: event.reason });
  });
  globalThis.addEventListener("error", (event) => {
    event.preventDefault();
    count();
    (currentRunLog() ?? log).error("Uncaught error in user code", { error: event.error });
  });
}
