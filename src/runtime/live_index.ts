/** An index of a cache by keys that are computed from the objects. */
import type { KubeObject } from "../resource/kind.ts";
import { keyOf, type ObjectKey } from "../watch/key.ts";
import type { LiveCopy } from "../watch/live_copy.ts";
import type { StoreChange } from "../watch/store.ts";

/** An index of a cache. */
export class LiveIndex {
  readonly #copy: LiveCopy;
  readonly #keysOf: (object: KubeObject) => readonly string[];
  readonly #objects = new Map<string, Set<ObjectKey>>();

  /**
   * @param copy The cache. Listeners that are added to it later see the updated index.
   * @param keysOf Returns the keys of an object.
   */
  constructor(copy: LiveCopy, keysOf: (object: KubeObject) => readonly string[]) {
    this.#copy = copy;
    this.#keysOf = keysOf;
    for (const object of copy.values()) this.#take({ before: undefined, after: object });
    copy.listen((change) => this.#take(change));
  }

  /** Returns the cached objects with a key. */
  get(key: string): readonly KubeObject[] {
    return [...this.#objects.get(key) ?? []].flatMap((name) => this.#copy.get(name) ?? []);
  }

  #take({ before, after }: StoreChange): void {
    const name = keyOf((after ?? before)!.metadata);
    const now = after === undefined ? [] : this.#keysOf(after);
    if (before !== undefined) {
      for (const key of this.#keysOf(before)) {
        if (now.includes(key)) continue;
        const names = this.#objects.get(key);
        names?.delete(name);
        if (names?.size === 0) this.#objects.delete(key);
      }
    }
    for (const key of now) {
      const names = this.#objects.get(key);
      if (names === undefined) this.#objects.set(key, new Set([name]));
      else names.add(name);
    }
  }
}
