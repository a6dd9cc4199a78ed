/** Limits the time of calls to user code. */
import type { Clock } from "../base/clock.ts";

/** Aborts the signal of a call. */
interface Abortable {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
}

/**
 * Calls a function, and aborts its signal when its time has passed. A function that ignores its
 * signal is abandoned.
 *
 * @param clock Measures the time.
 * @param controller The controller of the signal that the function receives.
 * @param limit The time limit in milliseconds, and the message of the error.
 * @param call The function.
 * @throws {DOMException} With the name `TimeoutError` if the time has passed.
 */
export async function withTimeLimit<T>(
  clock: Clock,
  controller: Abortable,
  limit: { readonly milliseconds: number; readonly message: string },
  call: () => Promise<T> | T,
): Promise<T> {
  const { signal } = controller;
  using _timer = clock.after(limit.milliseconds, () => {
    controller.abort(new DOMException(limit.message, "TimeoutError"));
  });
  const { promise: late, reject } = Promise.withResolvers<never>();
  late.catch(() => undefined);
  signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  return await Promise.race([call(), late]);
}
