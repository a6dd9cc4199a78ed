/**
 * Which run code belongs to, however many turns later: what nobody awaited is told with the object's keys. Where Deno does not know it any more (rejections
 * on 2.4, throws in timers on all) it is told without them.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Logger } from "./logger.ts";

const runs = new AsyncLocalStorage<Logger>();

/**
 * Calls a function as a part of a run.
 *
 * @param log The run's log.
 * @param call The function.
 */
export function asRun<T>(log: Logger, call: () => T): T {
  return runs.run(log, call);
}

/** The log of the run that this is a part of; nothing outside of runs. */
export function currentRunLog(): Logger | undefined {
  return runs.getStore();
}
