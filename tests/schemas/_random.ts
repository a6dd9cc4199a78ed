/** Reproducible random numbers from a seed. */

/** A source of random choices (mulberry32). */
export class Random {
  #state: number;

  /** @param seed Any integer. */
  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Returns a number from 0 to below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns an integer between two bounds, inclusive. */
  integer(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  /** Returns true with a probability. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** Returns one of several items. */
  pick<const T>(items: readonly T[]): T {
    const item = items[this.integer(0, items.length - 1)];
    if (items.length === 0) throw new RangeError("Cannot pick an item: the list is empty");
    return item as T;
  }

  /** Returns a string of characters from an alphabet. */
  text(length: number, alphabet = "abcdefghijklmnopqrstuvwxyz"): string {
    const letters = [...alphabet];
    return this.times(length, () => this.pick(letters)).join("");
  }

  /** Returns the results of several calls of a function. */
  times<T>(count: number, make: (index: number) => T): T[] {
    return Array.from({ length: count }, (_, i) => make(i));
  }
}
