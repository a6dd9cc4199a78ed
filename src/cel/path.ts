/**
 * Paths to parts of variables as cel-go keeps them: slices of Go, that may share what is behind them. Two fields of one loop variable can overwrite each
 * other's path so, and the estimate of the first takes the size of the second. Rules are accepted and refused by that estimate, so that it is the same here.
 */
export class Path {
  /** Of what has no name. */
  static readonly NONE: Path = new Path([], 0, 0);

  readonly #store: string[];
  readonly #capacity: number;

  private constructor(store: string[], readonly length: number, capacity: number) {
    this.#store = store;
    this.#capacity = capacity;
  }

  static of(name: string): Path {
    return new Path([name], 1, 1);
  }

  /** One part more. Where there is room it goes into what is shared; otherwise all is copied to twice the room. */
  append(part: string): Path {
    const length = this.length + 1;
    if (length <= this.#capacity) {
      this.#store[this.length] = part;
      return new Path(this.#store, length, this.#capacity);
    }
    return new Path([...this.parts(), part], length, Math.max(1, this.#capacity * 2));
  }

  at(index: number): string | undefined {
    return index < this.length ? this.#store[index] : undefined;
  }

  parts(): readonly string[] {
    return this.#store.slice(0, this.length);
  }
}
