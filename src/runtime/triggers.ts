/** Runs what wakes objects beside changes in the cluster: schedules and sources. */
import { withoutUrlCredentials } from "../base/url_credentials.ts";
import { backoff } from "../base/backoff.ts";
import { sleep } from "../base/clock.ts";
import type { SourceContext, Trigger } from "../parts/trigger.ts";
import type { ReconcileRequest } from "../parts/watch.ts";
import { keyOf } from "../watch/key.ts";
import { guarded, ownCopy, type Scope } from "./scope.ts";
import { placeOf, wakesOf } from "./wake_place.ts";
import type { Add } from "./wakeups.ts";

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
  const { clock } = scope;
  const context: SourceContext = { clock, now: () => new Date(clock.now()) };
  for (let failures = 1; !signal.aborted; failures++) {
    let wakes: AsyncIterator<ReconcileRequest | readonly ReconcileRequest[]> | undefined;
    const failed = scope.observe?.();
    try {
      wakes = source(signal, context)[Symbol.asyncIterator]();
      for (
        let next = await nextOf(wakes, signal);
        next !== undefined && !next.done;
        next = await nextOf(wakes, signal)
      ) {
        failures = 0;
        wake(scope, add, next.value);
      }
      if (!signal.aborted) scope.log.warn("Source ended");
    } catch (error) {
      if (!signal.aborted) {
        scope.log.error("Source failed", {
          error: withoutUrlCredentials(error instanceof Error ? error.stack ?? error.message : String(error)),
        });
        failed?.({ what: "source", part: scope.part, error });
      }
    }
    if (signal.aborted) {
      // What it holds open is let go of. It may wait for what never comes, so it is not waited for.
      return void (async () => await wakes?.return?.())().catch(() => undefined);
    }
    const wait = backoff(failures + 1, { ...RETRY, spread: scope.random() });
    await sleep(scope.clock, wait, signal).catch(() => undefined);
  }
}

/** What a source brings next; nothing at the signal. A race with one promise for all would hold on to each of what it ever brought. */
async function nextOf<T>(source: AsyncIterator<T>, signal: AbortSignal): Promise<IteratorResult<T> | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<T> | undefined>();
  const stop = (): void => resolve(undefined);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    Promise.resolve(source.next()).then(resolve, reject);
    return await promise;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** What is no wake is told, and the source goes on. */
function wake(scope: Scope, add: Add, wakes: ReconcileRequest | readonly ReconcileRequest[]): void {
  guarded(scope, { what: "source" }, () => {
    for (const wake of wakesOf(wakes)) {
      const place = placeOf(scope.controller.kind, wake, undefined);
      if (place !== undefined) add(keyOf(place), "triggered", {});
    }
  });
}
