/** Stores objects of a kind by key. An object is never replaced by an older version. */
import type { KubeObject } from "../resource/kind.ts";
import { keyOf, type ObjectKey } from "./key.ts";
import { isComparable, isNewer } from "./resource_version.ts";

/**
 * A change. `before` is `undefined` for a new object, and `after` is `undefined` for a deleted one.
 */
export interface StoreChange {
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
}

/** The objects of one watch. */
export class Store {
  readonly #objects = new Map<ObjectKey, KubeObject>();
  /**
   * Objects that this process deleted, until the event of the deletion is received. Events from
   * before the deletion must not restore them or an even earlier object of the same name.
   */
  readonly #deleted = new Map<ObjectKey, { readonly uid: string; readonly resourceVersion: string }>();

  /**
   * Writes of this process whose events have not been received yet and whose versions cannot be
   * compared. Until the event of the write, all other events of the object are older than the write
   * and are ignored. The map is empty during a list, because listed objects may be newer and are
   * sent only once.
   */
  readonly #awaitedWrites = new Map<ObjectKey, { readonly uid: string; readonly resourceVersion: string }>();
  #isListing = false;

  get size(): number {
    return this.#objects.size;
  }

  get(key: ObjectKey): KubeObject | undefined {
    return this.#objects.get(key);
  }

  keys(): IterableIterator<ObjectKey> {
    return this.#objects.keys();
  }

  values(): IterableIterator<KubeObject> {
    return this.#objects.values();
  }

  /**
   * Stores an object, unless the stored version is the same or newer. That is common: half of all
   * events report own writes, whose responses are already stored.
   *
   * @param object The object.
   * @param transform Called with an object that will be stored. It must not change its key or
   *   version.
   * @returns The change, or `undefined` if the object was not stored.
   */
  set(object: KubeObject, transform?: (object: KubeObject) => KubeObject): StoreChange | undefined {
    const key = keyOf(object.metadata);
    const { uid, resourceVersion } = object.metadata;
    const deleted = this.#deleted.get(key);
    if (deleted !== undefined && (deleted.uid === uid || isNewer(deleted.resourceVersion, resourceVersion))) {
      return undefined;
    }
    if (this.#awaitedWrites.size > 0 && this.#isOlderThanAwaited(key, object)) return undefined;
    const before = this.#objects.get(key);
    if (before !== undefined) {
      const stored = before.metadata.resourceVersion;
      if (stored === resourceVersion || isNewer(stored, resourceVersion)) return undefined;
    }
    const after = transform === undefined ? object : transform(object);
    this.#objects.set(key, after);
    return { before, after };
  }

  /**
   * Stores the response to a write of this process.
   *
   * @returns The change, or `undefined` if the stored version is the same or newer.
   */
  setWritten(response: KubeObject): StoreChange | undefined {
    const key = keyOf(response.metadata);
    this.#awaitedWrites.delete(key);
    const change = this.set(response);
    const { uid, resourceVersion } = response.metadata;
    if (change !== undefined && !this.#isListing && !isComparable(resourceVersion)) {
      this.#awaitedWrites.set(key, { uid, resourceVersion });
    }
    return change;
  }

  /**
   * Returns whether an object is older than an own write whose event has not been received yet. If
   * it is not, the write is no longer awaited: the object is the result of the write, or another
   * object of the same name.
   */
  #isOlderThanAwaited(key: ObjectKey, { metadata }: KubeObject): boolean {
    const awaited = this.#awaitedWrites.get(key);
    if (awaited?.uid === metadata.uid && awaited.resourceVersion !== metadata.resourceVersion) return true;
    this.#awaitedWrites.delete(key);
    return false;
  }

  /** Begins a list. Its objects are stored as they are received; {@linkcode retain} ends it. */
  beginListing(): void {
    this.#isListing = true;
    this.#awaitedWrites.clear();
  }

  /**
   * Removes an object after the event of its deletion. A newer stored object is not removed,
   * because it may be another object of the same name.
   *
   * @returns The change, or `undefined` if no object was removed.
   */
  delete(object: KubeObject): StoreChange | undefined {
    const key = keyOf(object.metadata);
    if (this.#deleted.get(key)?.uid === object.metadata.uid) this.#deleted.delete(key);
    this.#awaitedWrites.delete(key);
    const before = this.#objects.get(key);
    if (before === undefined || isNewer(before.metadata.resourceVersion, object.metadata.resourceVersion)) {
      return undefined;
    }
    this.#objects.delete(key);
    return { before, after: undefined };
  }

  /**
   * Removes an object that this process deleted, before the event of the deletion is received.
   *
   * @returns The change, or `undefined` if no object was removed.
   */
  deleteOwn(object: KubeObject): StoreChange | undefined {
    const change = this.delete(object);
    if (change !== undefined) this.#deleted.set(keyOf(object.metadata), object.metadata);
    return change;
  }

  /** Forgets a deletion. Call it when no response or event from before the deletion can arrive. */
  forgetDeleted(key: ObjectKey): void {
    this.#deleted.delete(key);
  }

  /**
   * Ends a list. Removes the objects that are not in the list, except those written after it.
   *
   * @param seen Keys of the list.
   * @param resourceVersion Version of the list.
   * @returns The changes, one per removed object.
   */
  retain(seen: ReadonlySet<ObjectKey>, resourceVersion: string): StoreChange[] {
    this.#isListing = false;
    const changes: StoreChange[] = [];
    for (const [key, before] of this.#objects) {
      if (seen.has(key) || isNewer(before.metadata.resourceVersion, resourceVersion)) continue;
      this.#objects.delete(key);
      changes.push({ before, after: undefined });
    }
    for (const key of this.#deleted.keys()) if (!seen.has(key)) this.#deleted.delete(key);
    return changes;
  }
}
