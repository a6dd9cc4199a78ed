/** An index of an informer cache. Its keys are computed from the objects. */
import type { KubeObject } from "../resource/kind.ts";
import { keyOf, type ObjectKey } from "../watch/key.ts";
import type { InformerCache } from "../watch/informer_cache.ts";
import type { StoreChange } from "../watch/store.ts";

/** An index of an informer cache that follows the changes of the cache. */
export class CacheIndex {
  readonly #cache: InformerCache;
  readonly #keysOf: (object: KubeObject) => readonly string[];
  readonly #objects = new Map<string, Set<ObjectKey>>();

  /**
   * @param cache The cache. Listeners that are added to it later see the updated index.
   * @param keysOf Returns the keys of an object.
   */
  constructor(cache: InformerCache, keysOf: (object: KubeObject) => readonly string[]) {
    this.#cache = cache;
    this.#keysOf = keysOf;
    for (const object of cache.values()) this.#update({ before: undefined, after: object });
    cache.listen((change) => this.#update(change));
  }

  /** Returns the cached objects with a key. */
  get(key: string): readonly KubeObject[] {
    return [...this.#objects.get(key) ?? []].flatMap((name) => this.#cache.get(name) ?? []);
  }

  #update({ before, after }: StoreChange): void {
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
