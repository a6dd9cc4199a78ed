/** A live copy of a kind's objects, or of those that are selected: one watch, or one a namespace. */
import type { AnyKind, KubeObject } from "../resource/kind.ts";
import type { ChangeListener, Informer } from "./informer.ts";
import { keyOf, type ObjectKey } from "./key.ts";
import type { Writer } from "./own_writes.ts";

/** A live copy of a kind's objects. */
export class LiveCopy {
  readonly kind: AnyKind;
  /** By namespace; under `undefined` where one watch sees them all. */
  readonly #informers: ReadonlyMap<string | undefined, Informer>;
  /** The only one, where there is one: nearly always. */
  readonly #single: Informer | undefined;

  /**
   * @param kind The kind.
   * @param informers The watches, by the namespace each sees; `undefined` sees all.
   */
  constructor(kind: AnyKind, informers: ReadonlyMap<string | undefined, Informer>) {
    this.kind = kind;
    this.#informers = informers;
    this.#single = informers.get(undefined);
  }

  /** Its watches. */
  get informers(): readonly Informer[] {
    return [...this.#informers.values()];
  }

  get size(): number {
    return this.informers.reduce((sum, { store }) => sum + store.size, 0);
  }

  /** Whether all that there was at first is held. */
  get isSynced(): boolean {
    return this.informers.every(({ isSynced }) => isSynced);
  }

  /** Settles when all that there was at first is held. */
  get synced(): Promise<unknown> {
    return Promise.all(this.informers.map(({ synced }) => synced));
  }

  /**
   * Settles when all that there was at first is held; fails when one of the watches cannot begin just now.
   *
   * @param signal Ends the waiting.
   */
  async ready(signal: AbortSignal): Promise<void> {
    await Promise.all(this.informers.map((informer) => informer.ready(signal)));
  }

  /** Whether what is in a namespace is in it; `undefined` asks for a kind that is cluster-wide, or for all namespaces. */
  covers(namespace: string | undefined): boolean {
    return this.#single !== undefined || namespace === undefined || this.#informers.has(namespace);
  }

  get(key: ObjectKey): KubeObject | undefined {
    return this.#of(key)?.store.get(key);
  }

  /** Whether it holds what stands there. */
  has({ metadata }: KubeObject): boolean {
    return this.get(keyOf(metadata)) !== undefined;
  }

  *keys(): IterableIterator<ObjectKey> {
    for (const { store } of this.informers) yield* store.keys();
  }

  /** The objects, of one namespace or of all. */
  *values(namespace?: string): IterableIterator<KubeObject> {
    for (const [seen, { store }] of this.#informers) {
      if (namespace !== undefined && seen !== undefined && seen !== namespace) continue;
      if (namespace === undefined || seen === namespace) yield* store.values();
      else for (const object of store.values()) if (object.metadata.namespace === namespace) yield object;
    }
  }

  /** Adds a listener to each watch. Disposing of the answer takes it off. */
  listen(listener: ChangeListener): Disposable {
    const listening = this.informers.map((informer) => informer.listen(listener));
    return { [Symbol.dispose]: () => listening.forEach((one) => one[Symbol.dispose]()) };
  }

  /** Adds a listener that is told when the cluster serves the kind again, after it did not. */
  onServedAgain(listener: () => void): void {
    for (const informer of this.informers) informer.onServedAgain(listener);
  }

  /** Sends a write and takes its answer in; see {@linkcode Informer.write}. */
  write<Object extends KubeObject>(key: ObjectKey, by: Writer, send: () => Promise<Object>): Promise<Object> {
    const informer = this.#of(key);
    // Of what was selected nobody here can tell whether an object that is new belongs to it: its event will.
    if (informer === undefined || (informer.isSelected && informer.store.get(key) === undefined)) return send();
    return informer.write(key, by, send);
  }

  /** Sends a deletion and takes it in; see {@linkcode Informer.remove}. */
  async remove(key: ObjectKey, by: Writer, send: () => Promise<KubeObject | undefined>): Promise<void> {
    const informer = this.#of(key);
    if (informer === undefined) await send();
    else await informer.remove(key, by, send);
  }

  #of(key: ObjectKey): Informer | undefined {
    if (this.#single !== undefined) return this.#single;
    const slash = key.indexOf("/");
    return slash === -1 ? undefined : this.#informers.get(key.slice(0, slash));
  }
}
