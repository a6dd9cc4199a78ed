/**
 * Watches of single objects, by their names: made when an object of the controller names one, dropped when none does any more. A Secret that nobody names
 * is never held, nor sent.
 */
import type { Watch } from "../parts/watch.ts";
import type { AnyKind, KubeObject } from "../resource/kind.ts";
import { keyOf, type ObjectKey } from "../watch/key.ts";
import type { LiveCopy } from "../watch/live_copy.ts";
import type { ChangeListener } from "../watch/informer.ts";
import type { Informers } from "./informers.ts";
import type { Place } from "./wake_place.ts";

/** Options of {@linkcode NamedWatches}. */
export interface NamedWatchesOptions {
  readonly informers: Informers;
  readonly kind: AnyKind;
  /** The watch as it is declared. */
  readonly options: Watch["options"];
  /** Whom an object of the controller names. It does not throw. */
  readonly namesOf: (own: KubeObject) => readonly Place[];
}

interface Named {
  readonly copy: LiveCopy;
  readonly listening: Disposable;
  /** Who names it. */
  readonly by: Set<ObjectKey>;
}

/** The objects of one kind that a controller's objects name. */
export class NamedWatches {
  readonly kind: AnyKind;
  readonly #options: NamedWatchesOptions;
  readonly #named = new Map<ObjectKey, Named>();
  /** What each object of the controller names. */
  readonly #names = new Map<ObjectKey, ReadonlySet<ObjectKey>>();
  /** Told of changes of what is named, with those who name it. */
  onChange: (by: ReadonlySet<ObjectKey>, ...change: Parameters<ChangeListener>) => void = () => {};

  constructor(options: NamedWatchesOptions) {
    this.kind = options.kind;
    this.#options = options;
  }

  /** How many objects are named. */
  get size(): number {
    return this.#named.size;
  }

  /**
   * Takes in what an object of the controller names.
   *
   * @param own The object's key.
   * @param object The object; nothing when it is gone.
   */
  take(own: ObjectKey, object: KubeObject | undefined): void {
    const before = this.#names.get(own);
    const places = object === undefined ? [] : this.#options.namesOf(object);
    const now = new Map(places.map((place) => [keyOf(place), place]));
    // First what is new: what two share is not watched anew.
    for (const [key, place] of now) this.#hold(key, place, own);
    for (const key of before ?? []) if (!now.has(key)) this.#release(key, own);
    if (now.size === 0) this.#names.delete(own);
    else this.#names.set(own, new Set(now.keys()));
  }

  /** Whether an object of the controller names another one. */
  isNamedBy(own: KubeObject, key: ObjectKey): boolean {
    return this.#options.namesOf(own).some((place) => keyOf(place) === key);
  }

  /** The live copy of an object, where one of the controller's names it. */
  of(key: ObjectKey): LiveCopy | undefined {
    return this.#named.get(key)?.copy;
  }

  #hold(key: ObjectKey, place: Place, own: ObjectKey): void {
    const held = this.#named.get(key);
    if (held !== undefined) return void held.by.add(own);
    const { informers, options } = this.#options;
    const copy = informers.hold(this.kind, place.name, {
      namespace: place.namespace,
      metadataOnly: options.metadataOnly,
      managedFields: options.managedFields,
    });
    const by = new Set([own]);
    const listening = copy.listen((...change) => this.onChange(by, ...change));
    this.#named.set(key, { copy, listening, by });
  }

  #release(key: ObjectKey, own: ObjectKey): void {
    const held = this.#named.get(key);
    if (held === undefined) return;
    held.by.delete(own);
    if (held.by.size > 0) return;
    this.#named.delete(key);
    held.listening[Symbol.dispose]();
    this.#options.informers.release(held.copy);
  }
}
