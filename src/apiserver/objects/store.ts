/**
 * The counterpart of etcd: objects by collection and key, one revision counter for all, and the
 * history of the latest changes, which watches and lists at earlier revisions read.
 */
import type { StoredObject } from "./objects.ts";

/** A change of one object. */
export interface Change {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** Collection: `group/plural`. */
  readonly collection: string;
  readonly key: string;
  readonly revision: number;
  /**
   * The object after the change. For a deletion, its last state with the revision of the deletion.
   */
  readonly object: StoredObject;
  /** The object before the change. */
  readonly previous?: StoredObject;
}

/** Options for {@linkcode Store}. */
export interface StoreOptions {
  /** Number of retained changes. @default {10_000} */
  readonly history?: number;
}

/** The error for a revision that is older than the history. */
export class CompactedError extends Error {
  override name = "CompactedError";
  /** The first revision from which a watch can start. */
  readonly oldest: number;

  constructor(oldest: number) {
    super(`Revision is no longer available: the history starts after revision ${oldest}`);
    this.oldest = oldest;
  }
}

/** Objects with their revisions, history and listeners. */
export class Store {
  /** Revision of the latest change. It starts at 1, as in a new etcd, so 0 is never a revision. */
  #revision = 1;
  /** Changes up to this revision have been dropped from the history. */
  #compacted = 0;
  /** Revision at which each custom kind was first served, by collection. */
  #historyStarts = new Map<string, number>();
  #collections = new Map<string, Map<string, StoredObject>>();
  /** Sorted keys of a collection; dropped when a key is added or removed. */
  #keys = new Map<string, readonly string[]>();
  #changes: Change[] = [];
  #listeners = new Set<(change: Change) => void>();
  readonly #history: number;

  /** @param options Additional options. */
  constructor(options: StoreOptions = {}) {
    this.#history = options.history ?? 10_000;
  }

  /** Revision of the latest change. */
  get revision(): number {
    return this.#revision;
  }

  /** Calls a listener after each change, in order, until the result is disposed of. */
  listen(listener: (change: Change) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  get(collection: string, key: string): StoredObject | undefined {
    return this.#collections.get(collection)?.get(key);
  }

  /**
   * Returns the objects of a collection whose key starts with a prefix, in the order of their keys.
   */
  list(collection: string, prefix = ""): StoredObject[] {
    const objects = this.#collections.get(collection);
    if (objects === undefined) return [];
    const found: StoredObject[] = [];
    for (const key of this.#sortedKeys(collection, objects)) {
      const object = key.startsWith(prefix) ? objects.get(key) : undefined;
      if (object !== undefined) found.push(object);
    }
    return found;
  }

  /**
   * Returns the objects of a collection at a revision.
   *
   * @throws {CompactedError} If that revision is no longer available.
   */
  listAt(collection: string, revision: number, prefix = ""): StoredObject[] {
    if (revision >= this.#revision) return this.list(collection, prefix);
    const objects = new Map(this.#collections.get(collection));
    const changes = this.changesSince(revision, collection);
    for (const { key, previous } of changes.reverse()) {
      if (previous === undefined) objects.delete(key);
      else objects.set(key, previous);
    }
    return [...objects].filter(([key]) => key.startsWith(prefix)).sort(([a], [b]) => a < b ? -1 : 1)
      .map(([, object]) => object);
  }

  /** Names of all collections that are not empty. */
  get collections(): readonly string[] {
    return [...this.#collections].filter(([, objects]) => objects.size > 0).map(([name]) => name);
  }

  /**
   * Stores an object, and replaces the one with the same key.
   *
   * @param collection `group/plural`.
   * @param key `namespace/name`, or the name.
   * @param object The object. Its resourceVersion is replaced.
   * @returns The object as stored.
   */
  put(collection: string, key: string, object: StoredObject): StoredObject {
    const objects = this.#collection(collection);
    const previous = objects.get(key);
    const revision = ++this.#revision;
    const stored = withRevision(object, revision);
    objects.set(key, stored);
    if (previous === undefined) this.#keys.delete(collection);
    const type = previous === undefined ? "ADDED" : "MODIFIED";
    this.#record({ type, collection, key, revision, object: stored, ...(previous && { previous }) });
    return stored;
  }

  /** Deletes an object, and returns its last state. */
  delete(collection: string, key: string): StoredObject | undefined {
    const objects = this.#collection(collection);
    const previous = objects.get(key);
    if (previous === undefined) return undefined;
    objects.delete(key);
    this.#keys.delete(collection);
    const revision = ++this.#revision;
    const object = withRevision(previous, revision);
    this.#record({ type: "DELETED", collection, key, revision, object, previous });
    return object;
  }

  /**
   * Returns the changes after a revision, oldest first.
   *
   * @throws {CompactedError} If the history no longer contains all of them.
   */
  changesSince(revision: number, collection: string): Change[] {
    const oldest = Math.max(this.#compacted, this.#historyStarts.get(collection) ?? 0);
    if (revision < oldest) throw new CompactedError(oldest);
    const found: Change[] = [];
    for (let i = this.#changes.length - 1; i >= 0; i--) {
      const change = this.#changes[i];
      if (change === undefined || change.revision <= revision) break;
      if (change.collection === collection) found.push(change);
    }
    return found.reverse();
  }

  /**
   * Starts the history of a collection at the current revision, since watches cannot start before
   * its kind was served.
   */
  beginHistory(collection: string): void {
    this.#historyStarts.set(collection, this.#revision);
  }

  /** Drops the history. Watches and lists at an earlier revision are rejected from then on. */
  compact(): void {
    this.#compacted = this.#revision;
    this.#changes = [];
  }

  #collection(name: string): Map<string, StoredObject> {
    const known = this.#collections.get(name);
    if (known !== undefined) return known;
    const created = new Map<string, StoredObject>();
    this.#collections.set(name, created);
    return created;
  }

  #sortedKeys(collection: string, objects: ReadonlyMap<string, StoredObject>): readonly string[] {
    const known = this.#keys.get(collection);
    if (known !== undefined) return known;
    const keys = [...objects.keys()].sort();
    this.#keys.set(collection, keys);
    return keys;
  }

  #record(change: Change): void {
    this.#changes.push(change);
    // Drops half of the changes at once, since moving the array for each change would be slow.
    if (this.#changes.length > 2 * this.#history) {
      const dropped = this.#changes.splice(0, this.#changes.length - this.#history);
      this.#compacted = dropped.at(-1)?.revision ?? this.#compacted;
    }
    for (const listener of [...this.#listeners]) listener(change);
  }
}

function withRevision(object: StoredObject, revision: number): StoredObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}
