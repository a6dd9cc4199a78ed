/** Turns of the event loop. */
import { setImmediate } from "node:timers";

/**
 * Waits for turns of the event loop.
 *
 * A message on a channel is the fastest way, but Deno 2.4 may deliver it before all ready callbacks
 * have run. `setImmediate` is reliable, but takes a millisecond in that version.
 */
export class Turns implements Disposable {
  readonly #channel: MessageChannel = new MessageChannel();
  #next: PromiseWithResolvers<void> = Promise.withResolvers<void>();

  constructor() {
    this.#channel.port1.onmessage = () => {
      const { resolve } = this.#next;
      this.#next = Promise.withResolvers<void>();
      resolve();
    };
  }

  /** Resolves after all ready callbacks have run. */
  full(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  /** Resolves soon, after some of the ready callbacks have run. */
  next(): Promise<void> {
    const { promise } = this.#next;
    this.#channel.port2.postMessage(undefined);
    return promise;
  }

  [Symbol.dispose](): void {
    this.#channel.port1.close();
    this.#channel.port2.close();
  }
}
