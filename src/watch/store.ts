/** What is held of a kind: objects by key and by owner. It never goes back in time. */
import type { KubeObject } from "../resource/kind.ts";
import { keyOf, type ObjectKey } from "./key.ts";
import { isNewer } from "./resource_version.ts";

/** Something changed: `before` is missing for a new object, `after` for one that is gone. */
export interface StoreChange {
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
}

/** A live copy of a kind's objects. */
export class Store {
  readonly #objects = new Map<ObjectKey, KubeObject>();
  /** Keys by the uid of each owner. */
  readonly #owned = new Map<string, Set<ObjectKey>>();
  /** Versions of objects that went by a write of ours whose event has not come: an earlier event must not bring them back. */
  readonly #gone = new Map<ObjectKey, string>();

  get size(): number {
    return this.#objects.size;
  }

  get(key: ObjectKey): KubeObject | undefined {
    return this.#objects.get(key);
  }

  values(): IterableIterator<KubeObject> {
    return this.#objects.values();
  }

  /** The objects that name a uid among their owners. */
  *ownedBy(uid: string): Generator<KubeObject, void> {
    for (const key of this.#owned.get(uid) ?? []) yield this.#objects.get(key)!;
  }

  /**
   * Takes an object in, unless what is held is as new or newer.
   *
   * @returns What changed, or nothing.
   */
  set(object: KubeObject): StoreChange | undefined {
    const key = keyOf(object.metadata);
    const before = this.#objects.get(key);
    const { resourceVersion } = object.metadata;
    if (before !== undefined) {
      const held = before.metadata.resourceVersion;
      if (held === resourceVersion || isNewer(held, resourceVersion)) return undefined;
    }
    const gone = this.#gone.get(key);
    if (gone !== undefined) {
      if (!isNewer(resourceVersion, gone)) return undefined;
      this.#gone.delete(key);
    }
    if (before !== undefined) this.#forget(key, before);
    this.#objects.set(key, object);
    for (const { uid } of object.metadata.ownerReferences ?? []) {
      let keys = this.#owned.get(uid);
      if (keys === undefined) this.#owned.set(uid, keys = new Set());
      keys.add(key);
    }
    return { before, after: object };
  }

  /**
   * Drops an object that an event says was deleted, unless what is held is newer: another one may stand in its place.
   *
   * @returns What changed, or nothing.
   */
  delete(object: KubeObject): StoreChange | undefined {
    const key = keyOf(object.metadata);
    const gone = this.#gone.get(key);
    if (gone !== undefined && !isNewer(gone, object.metadata.resourceVersion)) this.#gone.delete(key);
    const before = this.#objects.get(key);
    if (before === undefined || isNewer(before.metadata.resourceVersion, object.metadata.resourceVersion)) {
      return undefined;
    }
    this.#forget(key, before);
    this.#objects.delete(key);
    return { before, after: undefined };
  }

  /**
   * Drops an object that went by a write of ours, before its event comes.
   *
   * @returns What changed, or nothing.
   */
  noteDeleted(object: KubeObject): StoreChange | undefined {
    const change = this.delete(object);
    if (change !== undefined) this.#gone.set(keyOf(object.metadata), object.metadata.resourceVersion);
    return change;
  }

  /** Forgets that an object went: no answer and no event from before that can come any more. */
  forgetGone(key: ObjectKey): void {
    this.#gone.delete(key);
  }

  /**
   * Drops what a complete listing did not have, save what was written since.
   *
   * @param seen The keys that the listing had.
   * @param resourceVersion The listing's version.
   * @returns What went.
   */
  retain(seen: ReadonlySet<ObjectKey>, resourceVersion: string): StoreChange[] {
    const changes: StoreChange[] = [];
    for (const [key, before] of this.#objects) {
      if (seen.has(key) || isNewer(before.metadata.resourceVersion, resourceVersion)) continue;
      this.#forget(key, before);
      this.#objects.delete(key);
      changes.push({ before, after: undefined });
    }
    for (const [key, gone] of this.#gone) if (!isNewer(gone, resourceVersion)) this.#gone.delete(key);
    return changes;
  }

  #forget(key: ObjectKey, object: KubeObject): void {
    for (const { uid } of object.metadata.ownerReferences ?? []) {
      const keys = this.#owned.get(uid);
      keys?.delete(key);
      if (keys?.size === 0) this.#owned.delete(uid);
    }
  }
}
