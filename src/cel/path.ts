/**
 * Paths to parts of variables, with the aliasing of cel-go's Go slices: two slices can share a
 * backing array. As a result, the path of one field of a loop variable can overwrite that of
 * another field, and the estimate for the first field then uses the size of the second. Servers
 * accept or reject rules by this estimate, so it is reproduced here.
 */
export class Path {
  /** The path of an expression without a name. */
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

  /**
   * Returns the path with one more part. If there is capacity, the part is written to the shared
   * array; otherwise the array is copied to twice the capacity.
   */
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
