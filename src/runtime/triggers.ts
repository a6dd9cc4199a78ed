/** Runs what wakes objects beside changes in the cluster: schedules and sources. */
import { aborted } from "../base/abort.ts";
import { backoff } from "../base/backoff.ts";
import { sleep } from "../base/clock.ts";
import type { Trigger } from "../parts/trigger.ts";
import type { Wake } from "../parts/watch.ts";
import { ownCopy, type Scope, wakesOf } from "./scope.ts";
import { type Add, wakeKey } from "./wakeups.ts";

// A source that broke is begun again soon, and then less and less often.
const RETRY = { first: 1000, longest: 5 * 60_000 };

/**
 * Runs the triggers of a controller until the signal.
 *
 * @param scope The controller's.
 * @param add Adds a key to its queue.
 * @param signal Ends them. None is waited for: user code may not heed it.
 */
export function runTriggers(scope: Scope, add: Add, signal: AbortSignal): void {
  for (const trigger of scope.controller.triggers) {
    if ("every" in trigger) void repeat(scope, add, trigger.every, signal);
    else void follow(scope, add, trigger, signal);
  }
}

async function repeat(scope: Scope, add: Add, interval: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(scope.clock, interval, signal).catch(() => undefined);
    if (signal.aborted) return;
    for (const key of ownCopy(scope).keys()) add(key, "triggered", { priority: "resync" });
  }
}

async function follow(
  scope: Scope,
  add: Add,
  { source }: Extract<Trigger, { readonly source: unknown }>,
  signal: AbortSignal,
): Promise<void> {
  const over = aborted(signal).then(() => undefined);
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      const wakes: AsyncIterator<Wake | readonly Wake[]> = source(signal)[Symbol.asyncIterator]();
      for (
        let next = await Promise.race([wakes.next(), over]);
        next !== undefined;
        next = await Promise.race([wakes.next(), over])
      ) {
        if (next.done) break;
        failures = 0;
        for (const wake of wakesOf(next.value)) add(wakeKey(scope.controller.kind, wake, undefined), "triggered", {});
      }
      if (signal.aborted) return void Promise.resolve(wakes.return?.()).catch(() => undefined);
      scope.log.warn("Source ended");
    } catch (error) {
      if (signal.aborted) return;
      scope.log.error("Source failed", {
        error: error instanceof Error ? error.stack ?? error.message : String(error),
      });
    }
    const wait = backoff(failures + 1, { ...RETRY, spread: scope.random() });
    await sleep(scope.clock, wait, signal).catch(() => undefined);
  }
}
