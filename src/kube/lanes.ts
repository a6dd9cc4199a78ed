/**
 * Over which of several connections a watch goes. A server takes a hundred requests at once on a connection, and what is more waits until one of them ends,
 * which a watch does not for minutes. So there are at most so many watches on the first connection that requests have room beside them; those beyond go over
 * further ones.
 *
 * Source: `golang.org/x/net/http2`, MaxConcurrentStreams, as k8s.io/apiserver sets it (`pkg/server/secure_serving.go`).
 */

const MOST_WATCHES = 60;

/** Counts the watches on each connection. */
export class Lanes {
  readonly #watches: number[] = [];

  /** Takes a place for a watch; disposing of it gives it back. */
  take(): Disposable & { readonly lane: number } {
    const free = this.#watches.findIndex((count) => count < MOST_WATCHES);
    const lane = free === -1 ? this.#watches.length : free;
    this.#watches[lane] = (this.#watches[lane] ?? 0) + 1;
    return { lane, [Symbol.dispose]: () => void this.#watches[lane]!-- };
  }
}
