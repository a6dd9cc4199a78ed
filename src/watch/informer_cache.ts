/**
 * The informer cache of a kind, or of a selection of its objects: one watch, or one per namespace.
 */
import type { AnyKind, KubeObject } from "../resource/kind.ts";
import type { ChangeListener, Informer } from "./informer.ts";
import { keyOf, type ObjectKey } from "./key.ts";
import type { Writer } from "./own_writes.ts";

/** The cached objects of a kind. */
export class InformerCache {
  readonly kind: AnyKind;
  /** The watches by namespace; `undefined` for a watch of all namespaces. */
  readonly #informers: ReadonlyMap<string | undefined, Informer>;
  /** The watch of all namespaces, which is nearly always the only one. */
  readonly #single: Informer | undefined;

  /**
   * @param kind The kind.
   * @param informers The watches by namespace; `undefined` for a watch of all namespaces.
   */
  constructor(kind: AnyKind, informers: ReadonlyMap<string | undefined, Informer>) {
    this.kind = kind;
    this.#informers = informers;
    this.#single = informers.get(undefined);
  }

  /** The watches. */
  get informers(): readonly Informer[] {
    return [...this.#informers.values()];
  }

  get size(): number {
    return this.informers.reduce((sum, { store }) => sum + store.size, 0);
  }

  /** Whether the first lists are stored. */
  get isSynced(): boolean {
    return this.informers.every(({ isSynced }) => isSynced);
  }

  /** Resolves when the first lists are stored. */
  get synced(): Promise<unknown> {
    return Promise.all(this.informers.map(({ synced }) => synced));
  }

  /**
   * Waits for the first lists. Rejects with the error of a watch if one fails before.
   *
   * @param signal Stops waiting.
   */
  async ready(signal: AbortSignal): Promise<void> {
    await Promise.all(this.informers.map((informer) => informer.ready(signal)));
  }

  /**
   * Returns whether the cache includes a namespace. `undefined` means a cluster-scoped kind or
   * all namespaces.
   */
  covers(namespace: string | undefined): boolean {
    return this.#single !== undefined || namespace === undefined || this.#informers.has(namespace);
  }

  get(key: ObjectKey): KubeObject | undefined {
    return this.#informerOf(key)?.store.get(key);
  }

  /** Returns whether the cache has an object with the same key. */
  has({ metadata }: KubeObject): boolean {
    return this.get(keyOf(metadata)) !== undefined;
  }

  *keys(): IterableIterator<ObjectKey> {
    for (const { store } of this.informers) yield* store.keys();
  }

  /** Returns the objects of a namespace, or of all. */
  *values(namespace?: string): IterableIterator<KubeObject> {
    for (const [watched, { store }] of this.#informers) {
      if (namespace !== undefined && watched !== undefined && watched !== namespace) continue;
      if (namespace === undefined || watched === namespace) yield* store.values();
      else for (const object of store.values()) if (object.metadata.namespace === namespace) yield object;
    }
  }

  /** Adds a listener to each watch. Disposing of the result removes it. */
  listen(listener: ChangeListener): Disposable {
    const listening = this.informers.map((informer) => informer.listen(listener));
    return { [Symbol.dispose]: () => listening.forEach((one) => one[Symbol.dispose]()) };
  }

  /** Adds a listener that is called when the cluster serves the kind again. */
  onServedAgain(listener: () => void): void {
    for (const informer of this.informers) informer.onServedAgain(listener);
  }

  /** Sends a write and stores its response, as {@linkcode Informer.write} does. */
  write<Object extends KubeObject>(key: ObjectKey, by: Writer, send: () => Promise<Object>): Promise<Object> {
    const informer = this.#informerOf(key);
    // Whether a new object belongs to the selection is known only when its event is received.
    if (informer === undefined || (informer.isSelected && informer.store.get(key) === undefined)) return send();
    return informer.write(key, by, send);
  }

  /** Sends a deletion, as {@linkcode Informer.remove} does. */
  async remove(key: ObjectKey, by: Writer, send: () => Promise<KubeObject | undefined>): Promise<void> {
    const informer = this.#informerOf(key);
    if (informer === undefined) await send();
    else await informer.remove(key, by, send);
  }

  #informerOf(key: ObjectKey): Informer | undefined {
    if (this.#single !== undefined) return this.#single;
    const slash = key.indexOf("/");
    return slash === -1 ? undefined : this.#informers.get(key.slice(0, slash));
  }
}
