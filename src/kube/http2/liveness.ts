/**
 * Detects a dead connection: a router or firewall can drop one silently. While requests are
 * pending, a PING is sent after 4 s without received bytes. If no bytes follow within 4.25 s, the
 * connection is dead.
 */
import type { Clock } from "../../base/clock.ts";

// Together less than ten seconds, as in `connection_probe.ts`. In milliseconds.
const SILENCE = 4000;
const PING_TIMEOUT = 4250;

/** Options of {@linkcode Liveness}. */
export interface LivenessOptions {
  readonly clock: Clock;
  /** Whether requests are pending. An idle connection is not checked. */
  readonly isBusy: () => boolean;
  /** Sends a PING. */
  readonly ping: () => void;
  /** Called when the connection is dead. */
  readonly onDead: (error: Error) => void;
}

/** Checks one connection until it is disposed of. */
export class Liveness implements Disposable {
  readonly #options: LivenessOptions;
  /** When bytes were last received, by the clock's `elapsed`. */
  #lastReceived = 0;
  #timer: Disposable | undefined;

  constructor(options: LivenessOptions) {
    this.#options = options;
  }

  /** Reports that bytes were received. */
  received(): void {
    this.#lastReceived = this.#options.clock.elapsed();
  }

  /** Starts checking, if the connection was idle. */
  start(): void {
    if (this.#timer !== undefined) return;
    this.received();
    this.#wait(SILENCE);
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }

  #wait(delay: number, pingedAt?: number): void {
    const { clock, isBusy, ping, onDead } = this.#options;
    this.#timer = clock.after(delay, () => {
      this.#timer = undefined;
      if (!isBusy()) return;
      if (pingedAt !== undefined && this.#lastReceived < pingedAt) {
        const seconds = (SILENCE + PING_TIMEOUT) / 1000;
        return onDead(new Error(`the connection is dead: no bytes and no response to a PING for ${seconds} s`));
      }
      const now = clock.elapsed();
      const left = this.#lastReceived + SILENCE - now;
      if (left > 0) return this.#wait(left);
      ping();
      this.#wait(PING_TIMEOUT, now);
    });
  }
}
