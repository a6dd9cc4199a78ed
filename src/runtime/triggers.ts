/** Runs the triggers of a controller: intervals and sources that enqueue objects. */
import { withoutUrlCredentials } from "../base/url_credentials.ts";
import { backoff } from "../base/backoff.ts";
import { sleep } from "../base/clock.ts";
import type { SourceContext, Trigger } from "../parts/trigger.ts";
import type { ReconcileRequest } from "../parts/watch.ts";
import { keyOf } from "../watch/key.ts";
import { guarded, type LoopScope, ownCache } from "./scope.ts";
import { requestedObject, requestList } from "./reconcile_request.ts";
import type { Add } from "./watched_changes.ts";

// Delays before a failed source is started again, in milliseconds.
const RETRY = { first: 1000, longest: 5 * 60_000 };

/**
 * Runs the triggers of a controller until the signal is aborted.
 *
 * @param scope The scope of the loop.
 * @param add Adds a key to its queue.
 * @param signal When aborted, ends the triggers. They are not awaited, because user code may ignore
 * the signal.
 */
export function runTriggers(scope: LoopScope, add: Add, signal: AbortSignal): void {
  for (const trigger of scope.unit.triggers) {
    if ("every" in trigger) void runInterval(scope, add, trigger.every, signal);
    else void runSource(scope, add, trigger, signal);
  }
}

async function runInterval(scope: LoopScope, add: Add, interval: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(scope.clock, interval, signal).catch(() => undefined);
    if (signal.aborted) return;
    for (const key of ownCache(scope).keys()) add(key, "triggered", { priority: "resync" });
  }
}

async function runSource(
  scope: LoopScope,
  add: Add,
  { source }: Extract<Trigger, { readonly source: unknown }>,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = scope;
  const context: SourceContext = { clock, now: () => new Date(clock.now()) };
  let failures = 0;
  while (!signal.aborted) {
    let requests: AsyncIterator<ReconcileRequest | readonly ReconcileRequest[]> | undefined;
    const failed = scope.observe?.();
    try {
      requests = source(signal, context)[Symbol.asyncIterator]();
      for (
        let next = await nextRequest(requests, signal);
        next !== undefined && !next.done;
        next = await nextRequest(requests, signal)
      ) {
        failures = 0;
        enqueue(scope, add, next.value);
      }
      if (!signal.aborted) scope.log.warn("Trigger source ended");
    } catch (error) {
      if (!signal.aborted) {
        scope.log.error("Trigger source failed", {
          error: withoutUrlCredentials(error instanceof Error ? error.stack ?? error.message : String(error)),
        });
        failed?.({ operation: "source", part: scope.loop, error });
      }
    }
    if (signal.aborted) {
      // Lets the source release its resources. The call may hang, so it is not awaited.
      return void (async () => await requests?.return?.())().catch(() => undefined);
    }
    const wait = backoff(++failures, { ...RETRY, spread: scope.random() });
    await sleep(scope.clock, wait, signal).catch(() => undefined);
  }
}

/**
 * Returns the next value of a source, or `undefined` when the signal is aborted. It does not use
 * `Promise.race` with one shared promise, which would keep every value in memory.
 */
async function nextRequest<T>(source: AsyncIterator<T>, signal: AbortSignal): Promise<IteratorResult<T> | undefined> {
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

/** Enqueues requested objects. Invalid requests are logged, and the source continues. */
function enqueue(scope: LoopScope, add: Add, requests: ReconcileRequest | readonly ReconcileRequest[]): void {
  guarded(scope, { what: "source" }, () => {
    for (const request of requestList(requests)) {
      const object = requestedObject(scope.unit.kind, request, undefined);
      if (object !== undefined) add(keyOf(object), "triggered", {});
    }
  });
}
