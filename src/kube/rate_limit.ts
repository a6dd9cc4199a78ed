/** A client-side limit on requests to the API server, like client-go's QPS and burst. */
import { type Clock, sleep } from "../base/clock.ts";

/** Options for {@linkcode RateLimit}. */
export interface RateLimitOptions {
  /** Average requests per second. */
  readonly qps: number;
  /** Requests that may be sent at once after a pause. @default {twice `qps`, and at least 1} */
  readonly burst?: number;
  /** Clock that measures the rate. */
  readonly clock: Clock;
  /** Called for each request that has to wait, with the delay in milliseconds. */
  readonly onDelay?: (delay: number) => void;
}

/**
 * API groups whose requests are never delayed. A leader that renews its Lease too late loses it,
 * and an operator starts only after its access reviews.
 */
const EXEMPT = /^\/apis\/(coordination|authorization|authentication)\.k8s\.io\//;

/**
 * A token bucket that the clients of an operator share. Requests are sent in the order of the
 * calls.
 *
 * @example Usage
 * ```ts
 * import { VirtualClock } from "../base/virtual_clock.ts";
 *
 * const limit = new RateLimit({ qps: 5, burst: 10, clock: new VirtualClock() });
 * for (let i = 0; i < 10; i++) await limit.take("/api/v1/pods"); // the eleventh waits 200 ms
 * await limit.take("/apis/coordination.k8s.io/v1/namespaces/shop/leases/shop"); // never waits
 * ```
 */
export class RateLimit {
  readonly #clock: Clock;
  readonly #qps: number;
  readonly #burst: number;
  readonly #onDelay: ((delay: number) => void) | undefined;
  /** Tokens left at {@linkcode RateLimit.#at}. If negative, the number of waiting requests. */
  #tokens: number;
  /** When the tokens were counted, by the clock's `elapsed`. */
  #at: number;

  /**
   * @param options Rate, burst and clock.
   * @throws {RangeError} If `qps` is not a positive number, or `burst` is not a positive integer.
   */
  constructor({ qps, burst = Math.max(1, Math.ceil(qps * 2)), clock, onDelay }: RateLimitOptions) {
    if (!(qps > 0 && qps < Infinity)) {
      throw new RangeError(`Client-side rate limit: qps must be a positive number, got ${qps}`);
    }
    if (!Number.isInteger(burst) || burst < 1) {
      throw new RangeError(`Client-side rate limit: burst must be a positive integer, got ${burst}`);
    }
    this.#clock = clock;
    this.#qps = qps;
    this.#burst = burst;
    this.#onDelay = onDelay;
    this.#tokens = burst;
    this.#at = clock.elapsed();
  }

  /**
   * Waits until a request may be sent.
   *
   * @param path Path of the request, for the exempt groups.
   * @param signal Ends the wait; the promise then rejects with its reason, and the request is not
   * counted.
   */
  async take(path: string, signal?: AbortSignal): Promise<void> {
    if (EXEMPT.test(path)) return;
    signal?.throwIfAborted();
    this.#add(-1);
    if (this.#tokens >= 0) return;
    const delay = Math.ceil(-this.#tokens / this.#qps * 1000);
    this.#onDelay?.(delay);
    try {
      await sleep(this.#clock, delay, signal);
    } catch (error) {
      this.#add(1);
      throw error;
    }
  }

  /** Adds the tokens that accumulated since the last call, and then `count` tokens. */
  #add(count: number): void {
    const now = this.#clock.elapsed();
    const refilled = Math.min(this.#burst, this.#tokens + (now - this.#at) / 1000 * this.#qps);
    this.#tokens = Math.min(this.#burst, refilled + count);
    this.#at = now;
  }
}
