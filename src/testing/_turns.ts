/**
 * Turns of the event loop. A message to oneself is the shortest way to the next: a timer takes a millisecond, `setImmediate` on Deno 2.4 as well.
 */

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

  /** Settles in the next turn. */
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
