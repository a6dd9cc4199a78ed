/**
 * Distributes watches over several connections. A server allows a hundred streams per connection,
 * and further requests wait until a stream ends. Watches are long-lived, so each connection gets at
 * most 60 of them; the other streams are for requests.
 *
 * Source: `golang.org/x/net/http2`, MaxConcurrentStreams, as k8s.io/apiserver sets it
 * (`pkg/server/secure_serving.go`).
 */

const MAX_WATCHES = 60;

/** Counts the watches on each connection. */
export class WatchSlots {
  readonly #watches: number[] = [];

  /**
   * Assigns a watch to the first connection with fewer than 60 watches. Disposing of the result
   * frees the slot.
   */
  take(): Disposable & { readonly connectionIndex: number } {
    const free = this.#watches.findIndex((count) => count < MAX_WATCHES);
    const connectionIndex = free === -1 ? this.#watches.length : free;
    this.#watches[connectionIndex] = (this.#watches[connectionIndex] ?? 0) + 1;
    return { connectionIndex, [Symbol.dispose]: () => void this.#watches[connectionIndex]!-- };
  }
}
