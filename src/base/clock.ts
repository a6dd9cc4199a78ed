/** Time as a value: all code waits through a {@linkcode Clock}, so that tests can control time. */

/** Provides the time and timers. */
export interface Clock {
  /** Returns milliseconds since the epoch. */
  now(): number;
  /**
   * Returns milliseconds since an arbitrary moment. Unlike {@linkcode Clock.now}, it is monotonic.
   */
  elapsed(): number;
  /**
   * Calls `callback` once after at least `delay` milliseconds. Disposing of the result cancels the
   * timer, and has no effect after the call.
   */
  after(delay: number, callback: () => void): Disposable;
}

// setTimeout uses a signed 32-bit number of milliseconds; longer delays fire at once.
const LONGEST_TIMEOUT = 2 ** 31 - 1;

/** The system clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(delay: number, callback: () => void): Disposable {
    // Uses the monotonic clock, so that a change of the system time does not fire timers early.
    const due = performance.now() + delay;
    let timer = setTimeout(onTimeout, Math.min(delay, LONGEST_TIMEOUT));
    function onTimeout(): void {
      const remaining = due - performance.now();
      if (delay > LONGEST_TIMEOUT && remaining > 0) timer = setTimeout(onTimeout, Math.min(remaining, LONGEST_TIMEOUT));
      else callback();
    }
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
};

/**
 * Waits on a clock.
 *
 * @param clock The clock.
 * @param delay The delay in milliseconds.
 * @param signal Ends the wait early: the promise rejects with the signal's reason.
 * @returns A promise that resolves after the delay.
 */
export function sleep(clock: Clock, delay: number, signal?: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  if (signal?.aborted) return Promise.reject(signal.reason);
  const timer = clock.after(delay, () => {
    signal?.removeEventListener("abort", stop);
    resolve();
  });
  function stop(): void {
    timer[Symbol.dispose]();
    reject(signal?.reason);
  }
  signal?.addEventListener("abort", stop, { once: true });
  return promise;
}
