/** Work of WebCrypto in threads of its own: how much of it is under way. Turns of the event loop do not show it. */

const METHODS = ["digest", "exportKey", "generateKey", "importKey", "sign", "verify"] as const;

/** Counts calls of WebCrypto that have not ended. Disposing of it ends the counting. */
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

  /** Settles after so many turns of the event loop in which no such work was under way. */
  async rest(turns: number): Promise<void> {
    for (let quiet = 0; quiet < turns; quiet = this.#pending === 0 ? quiet + 1 : 0) {
      await new Promise((resolve) => setTimeout(resolve));
    }
  }

  [Symbol.dispose](): void {
    // Without properties of its own, it has those of its class.
    for (const [name] of this.#before) Reflect.deleteProperty(crypto.subtle, name);
  }
}
