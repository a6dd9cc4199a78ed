/**
 * Finds the log of the reconcile that asynchronous code belongs to, so that an unhandled rejection
 * is logged with the object's name. The log is unknown for rejections on Deno 2.4, and for errors
 * in timers on all versions of Deno.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Logger } from "./logger.ts";

const runs = new AsyncLocalStorage<Logger>();

/**
 * Calls a function as part of a reconcile, so that {@linkcode currentReconcileLog} returns its log.
 *
 * @param log The reconcile's log.
 * @param call The function.
 */
export function withReconcileLog<T>(log: Logger, call: () => T): T {
  return runs.run(log, call);
}

/** Returns the log of the current reconcile, or `undefined` outside of one. */
export function currentReconcileLog(): Logger | undefined {
  return runs.getStore();
}
