/**
 * A limited resource that clients share fairly. Free amounts are granted at once, so a single
 * client may hold everything. If too little is free, clients wait, and a returned amount is granted
 * to the waiting client that holds the least. So a client that requests a lot can delay another
 * only until the next amount is returned.
 */

/** Options of {@linkcode FairShare}. */
export interface FairShareOptions {
  /** The total amount. */
  readonly total: number;
  /** Maximum amount that one client may wait for. @default {four times the total} */
  readonly queue?: number;
}

interface Waiting {
  readonly amount: number;
  readonly resolve: (share: Disposable) => void;
}

interface Client {
  held: number;
  /** Sum of the amounts that it waits for. */
  wanted: number;
  readonly waiting: Set<Waiting>;
}

/** A limited resource that clients share fairly. */
export class FairShare {
  readonly #total: number;
  readonly #queue: number;
  /**
   * Clients that hold or wait for an amount. A client moves to the end when it is granted an
   * amount, so that clients that hold equal amounts take turns.
   */
  readonly #clients = new Map<string, Client>();
  #held = 0;
  #waiting = 0;

  /** @param options The total amount, and how much a client may wait for. */
  constructor({ total, queue = 4 * total }: FairShareOptions) {
    this.#total = total;
    this.#queue = queue;
  }

  /** The total amount. */
  get total(): number {
    return this.#total;
  }

  /** The amount that clients hold. */
  get held(): number {
    return this.#held;
  }

  /** Number of requests that wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Takes an amount if it is free and no client waits.
   *
   * @param name The client.
   * @param amount The amount, at most {@linkcode FairShare.total}.
   * @returns Disposing of it returns the amount; `undefined` if there is not enough.
   */
  tryTake(name: string, amount: number): Disposable | undefined {
    if (this.#waiting > 0 || this.#held + amount > this.#total) return undefined;
    return this.#give(name, this.#client(name), amount);
  }

  /**
   * Takes an amount, unless the client would then hold more than remains free. So some of the
   * resource is always left for other clients.
   *
   * @param name The client.
   * @param amount The amount.
   * @returns Disposing of it returns the amount; `undefined` if there is not enough.
   */
  tryTakePart(name: string, amount: number): Disposable | undefined {
    const client = this.#client(name);
    if (client.held + amount <= this.#total - this.#held - amount) return this.#give(name, client, amount);
    this.#forgetIdle(name, client);
    return undefined;
  }

  /**
   * Waits for an amount.
   *
   * @param name The client.
   * @param amount The amount, at most {@linkcode FairShare.total}.
   * @param signal Ends the wait: the promise rejects with its reason.
   * @returns A promise for the amount, which is returned by disposing of it; `undefined` if the
   * client already waits for too much.
   */
  take(name: string, amount: number, signal: AbortSignal): Promise<Disposable> | undefined {
    const client = this.#client(name);
    if (client.wanted + amount > this.#queue) {
      this.#forgetIdle(name, client);
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        amount,
        resolve: (share) => {
          signal.removeEventListener("abort", onAbort);
          resolve(share);
        },
      };
      const onAbort = (): void => {
        this.#leave(name, client, waiting);
        // A smaller request behind this one may fit now.
        this.#grant();
        reject(signal.reason);
      };
      client.waiting.add(waiting);
      client.wanted += amount;
      this.#waiting++;
      if (signal.aborted) return onAbort();
      signal.addEventListener("abort", onAbort, { once: true });
      this.#grant();
    });
  }

  /**
   * Grants amounts to waiting clients, starting with the one that holds the least, until too little
   * is free for the next one.
   */
  #grant(): void {
    while (this.#waiting > 0) {
      let least: [name: string, client: Client] | undefined;
      for (const entry of this.#clients) {
        if (entry[1].waiting.size > 0 && (least === undefined || entry[1].held < least[1].held)) least = entry;
      }
      const [name, client] = least!;
      const [next] = client.waiting;
      if (this.#held + next!.amount > this.#total) return;
      this.#leave(name, client, next!);
      const share = this.#give(name, client, next!.amount);
      this.#clients.delete(name);
      this.#clients.set(name, client);
      next!.resolve(share);
    }
  }

  #give(name: string, client: Client, amount: number): Disposable {
    client.held += amount;
    this.#held += amount;
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        client.held -= amount;
        this.#held -= amount;
        this.#forgetIdle(name, client);
        this.#grant();
      },
    };
  }

  #client(name: string): Client {
    let client = this.#clients.get(name);
    if (client === undefined) this.#clients.set(name, client = { held: 0, wanted: 0, waiting: new Set() });
    return client;
  }

  #leave(name: string, client: Client, waiting: Waiting): void {
    client.waiting.delete(waiting);
    client.wanted -= waiting.amount;
    this.#waiting--;
    this.#forgetIdle(name, client);
  }

  #forgetIdle(name: string, client: Client): void {
    if (client.held === 0 && client.waiting.size === 0) this.#clients.delete(name);
  }
}
