/** Time as a value: all waiting goes through a {@linkcode Clock}, so that tests can hold it still. */

/** Tells the time and calls back later. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since some moment. Unlike {@linkcode Clock.now} it is never set: what it says grows with time alone. */
  elapsed(): number;
  /**
   * Calls `callback` once, after at least `delay` milliseconds. Disposing of the answer cancels it; doing so twice, or after
   * the call, does nothing.
   */
  after(delay: number, callback: () => void): Disposable;
}

// setTimeout takes a signed 32-bit number of milliseconds and runs at once past it.
const LONGEST_TIMEOUT = 2 ** 31 - 1;

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(delay: number, callback: () => void): Disposable {
    // By the clock that is never set: what is due in a month must not ring when somebody sets the machine's.
    const due = performance.now() + delay;
    let timer = setTimeout(ring, Math.min(delay, LONGEST_TIMEOUT));
    function ring(): void {
      const left = due - performance.now();
      if (delay > LONGEST_TIMEOUT && left > 0) timer = setTimeout(ring, Math.min(left, LONGEST_TIMEOUT));
      else callback();
    }
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
};

/**
 * Waits on a clock.
 *
 * @param clock Whose time.
 * @param delay How long, in milliseconds.
 * @param signal Ends the wait early: the promise then rejects with the signal's reason.
 * @returns A promise that settles when the time has come.
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
