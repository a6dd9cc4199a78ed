/**
 * Turns of the event loop. A message to oneself is a short way on, but Deno 2.4 may take it in before all that is ready has gone on; `setImmediate` is sure,
 * and takes a millisecond there.
 */
import { setImmediate } from "node:timers";

/** Turns of the event loop. */
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

  /** Settles when all that is ready has gone on. */
  whole(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  /** Settles soon, after some of what is ready has gone on. */
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
