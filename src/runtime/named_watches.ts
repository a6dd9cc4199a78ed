/**
 * Watches single objects by name. A watch starts when an object of the controller names an object,
 * and ends when no object names it any more. A Secret that no object names is neither requested nor
 * cached.
 */
import type { Watch } from "../parts/watch.ts";
import type { AnyKind, KubeObject } from "../resource/kind.ts";
import { keyOf, type ObjectKey } from "../watch/key.ts";
import type { InformerCache } from "../watch/informer_cache.ts";
import type { ChangeListener } from "../watch/informer.ts";
import type { Informers } from "./informers.ts";
import type { RequestedObject } from "./reconcile_request.ts";

/** Options of {@linkcode NamedWatches}. */
export interface NamedWatchesOptions {
  readonly informers: Informers;
  readonly kind: AnyKind;
  /** Options of the declared watch. */
  readonly options: Watch["options"];
  /** Returns the objects that an object of the controller names. It never throws. */
  readonly namesOf: (own: KubeObject) => readonly RequestedObject[];
}

/** A named object and its watch. */
interface Named {
  readonly cache: InformerCache;
  readonly listening: Disposable;
  /** The objects of the controller that name it. */
  readonly by: Set<ObjectKey>;
}

/** Watches on the objects of one kind that a controller's objects name. */
export class NamedWatches {
  readonly kind: AnyKind;
  readonly #options: NamedWatchesOptions;
  readonly #named = new Map<ObjectKey, Named>();
  /** The keys that each object of the controller names. */
  readonly #names = new Map<ObjectKey, ReadonlySet<ObjectKey>>();
  /** Called for changes of a named object, with the objects that name it. */
  onChange: (by: ReadonlySet<ObjectKey>, ...change: Parameters<ChangeListener>) => void = () => {};

  constructor(options: NamedWatchesOptions) {
    this.kind = options.kind;
    this.#options = options;
  }

  /** Number of named objects. */
  get size(): number {
    return this.#named.size;
  }

  /**
   * Updates the watches for a changed object of the controller.
   *
   * @param own The object's key.
   * @param object The object; `undefined` if it was deleted.
   */
  update(own: ObjectKey, object: KubeObject | undefined): void {
    const before = this.#names.get(own);
    const named = object === undefined ? [] : this.#options.namesOf(object);
    const now = new Map(named.map((object) => [keyOf(object), object]));
    // New names are added before old ones are released, so that the watch on a name that is in both
    // sets continues.
    for (const [key, object] of now) this.#hold(key, object, own);
    for (const key of before ?? []) if (!now.has(key)) this.#release(key, own);
    if (now.size === 0) this.#names.delete(own);
    else this.#names.set(own, new Set(now.keys()));
  }

  /** Returns whether an object of the controller names another object. */
  isNamedBy(own: KubeObject, key: ObjectKey): boolean {
    return this.#options.namesOf(own).some((object) => keyOf(object) === key);
  }

  /**
   * Returns the cache of a named object, or `undefined` if no object of the controller names it.
   */
  of(key: ObjectKey): InformerCache | undefined {
    return this.#named.get(key)?.cache;
  }

  #hold(key: ObjectKey, named: RequestedObject, own: ObjectKey): void {
    const existing = this.#named.get(key);
    if (existing !== undefined) return void existing.by.add(own);
    const { informers, options } = this.#options;
    const cache = informers.hold(this.kind, named.name, {
      namespace: named.namespace,
      metadataOnly: options.metadataOnly,
      managedFields: options.managedFields,
    });
    const by = new Set([own]);
    const listening = cache.listen((...change) => this.onChange(by, ...change));
    this.#named.set(key, { cache, listening, by });
  }

  #release(key: ObjectKey, own: ObjectKey): void {
    const named = this.#named.get(key);
    if (named === undefined) return;
    named.by.delete(own);
    if (named.by.size > 0) return;
    this.#named.delete(key);
    named.listening[Symbol.dispose]();
    this.#options.informers.release(named.cache);
  }
}
