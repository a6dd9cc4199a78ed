/**
 * Counts pending WebCrypto calls, which run in their own threads and are not visible in turns of
 * the event loop.
 */

const METHODS = ["digest", "exportKey", "generateKey", "importKey", "sign", "verify"] as const;

/** Counts pending WebCrypto calls until it is disposed of. */
export class CryptoWork implements Disposable {
  #pending = 0;
  readonly #before = METHODS.map((name) => [name, crypto.subtle[name]] as const);

  constructor() {
    for (const [name, call] of this.#before) {
      const counted = (...args: unknown[]): Promise<unknown> => {
        this.#pending++;
        const result = (call as (...args: unknown[]) => Promise<unknown>).apply(crypto.subtle, args);
        return result.finally(() => this.#pending--);
      };
      Object.defineProperty(crypto.subtle, name, { value: counted, configurable: true });
    }
  }

  /** Resolves after a number of turns of the event loop without pending calls. */
  async rest(turns: number): Promise<void> {
    for (let quiet = 0; quiet < turns; quiet = this.#pending === 0 ? quiet + 1 : 0) {
      await new Promise((resolve) => setTimeout(resolve));
    }
  }

  [Symbol.dispose](): void {
    // Without own properties, it inherits those of its class again.
    for (const [name] of this.#before) Reflect.deleteProperty(crypto.subtle, name);
  }
}
