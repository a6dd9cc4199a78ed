/** The end of a graceful shutdown. */
import { aborted } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";

/**
 * Returns a signal that is aborted when the time for a graceful shutdown has passed.
 *
 * @param clock Measures the time.
 * @param stop The time begins when this signal is aborted.
 * @param timeout The time in milliseconds.
 */
export function gracefulDeadline(
  clock: Clock,
  stop: AbortSignal,
  timeout: number,
): Disposable & { readonly signal: AbortSignal } {
  const deadline = new AbortController();
  let timer: Disposable | undefined;
  let isDisposed = false;
  aborted(stop).then(() => {
    if (isDisposed) return;
    timer = clock.after(
      timeout,
      () => deadline.abort(new DOMException("The graceful shutdown timeout has passed", "AbortError")),
    );
  });
  return {
    signal: deadline.signal,
    [Symbol.dispose]() {
      isDisposed = true;
      timer?.[Symbol.dispose]();
    },
  };
}
