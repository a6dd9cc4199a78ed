/**
 * Whether the server is still there, while something goes on over a connection: a machine in between may drop a connection without a word. Where nothing
 * was heard for a while a ping is sent, and where that is not answered the connection is dead.
 */
import type { Clock } from "../base/clock.ts";

// As `pulse.ts` has it: together below ten seconds.
const SILENCE = 4000;
const PATIENCE = 4250;

/** What is to be looked after. */
export interface LivenessOptions {
  readonly clock: Clock;
  /** Whether anything goes on: where nothing does, nobody is asked. */
  readonly isBusy: () => boolean;
  readonly ping: () => void;
  readonly onDead: (error: Error) => void;
}

/** Looks after a connection. Disposing of it ends that. */
export class Liveness implements Disposable {
  readonly #options: LivenessOptions;
  #heard = 0;
  #timer: Disposable | undefined;

  constructor(options: LivenessOptions) {
    this.#options = options;
  }

  /** Something came. */
  heard(): void {
    this.#heard = this.#options.clock.elapsed();
  }

  /** Something begins. */
  begin(): void {
    if (this.#timer !== undefined) return;
    this.heard();
    this.#wait(SILENCE);
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }

  #wait(delay: number, asked?: number): void {
    const { clock, isBusy, ping, onDead } = this.#options;
    this.#timer = clock.after(delay, () => {
      this.#timer = undefined;
      if (!isBusy()) return;
      if (asked !== undefined && this.#heard < asked) {
        const seconds = (SILENCE + PATIENCE) / 1000;
        return onDead(
          new Error(`the connection is dead: nothing came for ${seconds} s, not even the answer to a ping`),
        );
      }
      const now = clock.elapsed();
      const left = this.#heard + SILENCE - now;
      if (left > 0) return this.#wait(left);
      ping();
      this.#wait(PATIENCE, now);
    });
  }
}
