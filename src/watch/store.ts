/** What is held of a kind, by key. It never goes back in time. */
import type { KubeObject } from "../resource/kind.ts";
import { keyOf, type ObjectKey } from "./key.ts";
import { compares, isNewer } from "./resource_version.ts";

/** Something changed: `before` is missing for a new object, `after` for one that is gone. */
export interface StoreChange {
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
}

/** A live copy of a kind's objects. */
export class Store {
  readonly #objects = new Map<ObjectKey, KubeObject>();
  /**
   * Objects that went by a write of ours and whose event has not come: no earlier event must bring them, or one that stood there before them,
   * back.
   */
  readonly #deleted = new Map<ObjectKey, { readonly uid: string; readonly resourceVersion: string }>();

  /**
   * Writes of ours whose versions compare with nothing, and whose event has not come: what else comes of the object before it is older. None while a listing
   * is under way: what that shows may be newer, and no event would bring it again.
   */
  readonly #awaited = new Map<ObjectKey, { readonly uid: string; readonly resourceVersion: string }>();
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
   * Takes an object in, unless what is held is as new or newer: half of all that comes are events of our own writes.
   *
   * @param object The object.
   * @param kept Makes of it what is held, where it is taken in. Its place and its version stay.
   * @returns What changed, or nothing.
   */
  set(object: KubeObject, kept?: (object: KubeObject) => KubeObject): StoreChange | undefined {
    const key = keyOf(object.metadata);
    const { uid, resourceVersion } = object.metadata;
    const deleted = this.#deleted.get(key);
    if (deleted !== undefined && (deleted.uid === uid || isNewer(deleted.resourceVersion, resourceVersion))) {
      return undefined;
    }
    if (this.#awaited.size > 0 && this.#isAwaited(key, object)) return undefined;
    const before = this.#objects.get(key);
    if (before !== undefined) {
      const held = before.metadata.resourceVersion;
      if (held === resourceVersion || isNewer(held, resourceVersion)) return undefined;
    }
    const after = kept === undefined ? object : kept(object);
    this.#objects.set(key, after);
    return { before, after };
  }

  /** Takes in the answer to a write of ours. @returns What changed, or nothing. */
  note(answer: KubeObject): StoreChange | undefined {
    const key = keyOf(answer.metadata);
    this.#awaited.delete(key);
    const change = this.set(answer);
    const { uid, resourceVersion } = answer.metadata;
    if (change !== undefined && !this.#isListing && !compares(resourceVersion)) {
      this.#awaited.set(key, { uid, resourceVersion });
    }
    return change;
  }

  /** Whether something is older than a write of ours; that write's own event ends the waiting, and so does another object of the name. */
  #isAwaited(key: ObjectKey, { metadata }: KubeObject): boolean {
    const awaited = this.#awaited.get(key);
    if (awaited?.uid === metadata.uid && awaited.resourceVersion !== metadata.resourceVersion) return true;
    this.#awaited.delete(key);
    return false;
  }

  /** A listing begins: what it shows is taken in as it comes. {@linkcode retain} ends it. */
  beginListing(): void {
    this.#isListing = true;
    this.#awaited.clear();
  }

  /**
   * Drops an object that an event says was deleted, unless what is held is newer: another one may stand in its place.
   *
   * @returns What changed, or nothing.
   */
  delete(object: KubeObject): StoreChange | undefined {
    const key = keyOf(object.metadata);
    if (this.#deleted.get(key)?.uid === object.metadata.uid) this.#deleted.delete(key);
    this.#awaited.delete(key);
    const before = this.#objects.get(key);
    if (before === undefined || isNewer(before.metadata.resourceVersion, object.metadata.resourceVersion)) {
      return undefined;
    }
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
    if (change !== undefined) this.#deleted.set(keyOf(object.metadata), object.metadata);
    return change;
  }

  /** Forgets that an object was deleted: no answer and no event from before it can come any more. */
  forgetDeleted(key: ObjectKey): void {
    this.#deleted.delete(key);
  }

  /**
   * Drops what a complete listing did not have, save what was written since.
   *
   * @param seen The keys that the listing had.
   * @param resourceVersion The listing's version.
   * @returns What went.
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
