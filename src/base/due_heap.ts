/** An entry of a {@linkcode DueHeap}. */
export interface DueEntry<T> {
  /** When it is due, in the unit that the caller chose. */
  readonly due: number;
  readonly value: T;
}

interface Node<T> extends DueEntry<T> {
  /** Orders entries that are due at the same time by their insertion. */
  readonly serial: number;
  /** Position in the array; -1 after removal. */
  index: number;
}

/**
 * Values ordered by when they are due. Values that are due at the same time keep the order of their
 * insertion.
 *
 * It is a binary heap whose entries know their position, so that inserting and removing take
 * logarithmic time: Cormen, Leiserson, Rivest and Stein, "Introduction to Algorithms", chapter 6.
 *
 * @typeParam T The values.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const heap = new DueHeap<string>();
 * heap.add(20, "later");
 * const first = heap.add(10, "first");
 * heap.delete(first);
 * assert.equal(heap.first?.value, "later");
 * ```
 */
export class DueHeap<T> {
  /** No entry is due before its parent, which is at half its position, counting from 1. */
  readonly #nodes: Node<T>[] = [];
  #serial = 0;

  /** Number of entries. */
  get size(): number {
    return this.#nodes.length;
  }

  /** The entry that is due first; `undefined` if there is none. */
  get first(): DueEntry<T> | undefined {
    return this.#nodes[0];
  }

  /**
   * Adds a value.
   *
   * @param due When it is due.
   * @param value The value.
   * @returns The entry, for {@linkcode DueHeap.delete}.
   */
  add(due: number, value: T): DueEntry<T> {
    const node: Node<T> = { due, value, serial: this.#serial++, index: this.#nodes.length };
    this.#nodes.push(node);
    this.#siftUp(node);
    return node;
  }

  /**
   * Removes an entry.
   *
   * @param entry An entry that {@linkcode DueHeap.add} of this heap returned.
   * @returns Whether the heap contained it.
   */
  delete(entry: DueEntry<T>): boolean {
    const node = entry as Node<T>;
    if (this.#nodes[node.index] !== node) return false;
    const last = this.#nodes.pop()!;
    if (last !== node) {
      this.#put(last, node.index);
      this.#siftUp(last);
      this.#siftDown(last);
    }
    node.index = -1;
    return true;
  }

  /** Removes all entries. */
  clear(): void {
    for (const node of this.#nodes) node.index = -1;
    this.#nodes.length = 0;
  }

  #siftUp(node: Node<T>): void {
    while (node.index > 0) {
      const parent = this.#nodes[(node.index - 1) >> 1]!;
      if (!isBefore(node, parent)) return;
      this.#swap(node, parent);
    }
  }

  #siftDown(node: Node<T>): void {
    for (;;) {
      const left = this.#nodes[2 * node.index + 1];
      const right = this.#nodes[2 * node.index + 2];
      const child = left !== undefined && right !== undefined && isBefore(right, left) ? right : left;
      if (child === undefined || !isBefore(child, node)) return;
      this.#swap(child, node);
    }
  }

  #swap(one: Node<T>, other: Node<T>): void {
    const { index } = one;
    this.#put(one, other.index);
    this.#put(other, index);
  }

  #put(node: Node<T>, index: number): void {
    node.index = index;
    this.#nodes[index] = node;
  }
}

function isBefore<T>(one: Node<T>, other: Node<T>): boolean {
  return one.due < other.due || (one.due === other.due && one.serial < other.serial);
}
