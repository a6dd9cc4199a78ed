/**
 * What an etcd is to an API server: objects by kind and key, one counter of revisions for all, and the history of the latest changes, from
 * which watches start and lists of an earlier revision are made.
 */
import type { StoredObject } from "./objects.ts";

/** A change of one object. */
export interface Change {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** The collection it is in: `group/plural`. */
  readonly collection: string;
  readonly key: string;
  readonly revision: number;
  /** What it is now; for a deletion what it was at last, with the revision of the deletion. */
  readonly object: StoredObject;
  /** What it was before. */
  readonly previous?: StoredObject;
}

/** Options for {@linkcode Store}. */
export interface StoreOptions {
  /** How many changes are remembered. @default {10_000} */
  readonly history?: number;
}

/** What is asked of is no longer remembered. */
export class CompactedError extends Error {
  override name = "CompactedError";
  /** The first revision from which a watch can start. */
  readonly oldest: number;

  constructor(oldest: number) {
    super(`Cannot go back: history begins after revision ${oldest}`);
    this.oldest = oldest;
  }
}

/** Objects, revisions, history and those who listen. */
export class Store {
  /** A fresh etcd is at 1, so that 0 never is a revision. */
  #revision = 1;
  /** Changes up to this revision are forgotten. */
  #compacted = 0;
  /** The revisions at which collections began, where that was after the store did. */
  #begun = new Map<string, number>();
  #collections = new Map<string, Map<string, StoredObject>>();
  /** Sorted keys of a collection; dropped when a key comes or goes. */
  #keys = new Map<string, readonly string[]>();
  #changes: Change[] = [];
  #listeners = new Set<(change: Change) => void>();
  readonly #history: number;

  /** @param options Additional options. */
  constructor(options: StoreOptions = {}) {
    this.#history = options.history ?? 10_000;
  }

  /** The revision of the latest change. */
  get revision(): number {
    return this.#revision;
  }

  /** Calls back after each change, in order, until disposed of. */
  listen(listener: (change: Change) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  get(collection: string, key: string): StoredObject | undefined {
    return this.#collections.get(collection)?.get(key);
  }

  /** The objects of a collection whose key begins so, in the order of their keys. */
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
   * The objects of a collection as they were at a revision.
   *
   * @throws {CompactedError} If that is no longer known.
   */
  listAt(collection: string, revision: number, prefix = ""): StoredObject[] {
    if (revision >= this.#revision) return this.list(collection, prefix);
    const objects = new Map(this.#collections.get(collection));
    const changes = this.changesSince(revision, collection);
    for (const { key, previous } of changes.reverse()) {
      if (previous === undefined) objects.delete(key);
      else objects.set(key, previous);
    }
    return [...objects].filter(([key]) => key.startsWith(prefix)).sort(([a], [b]) => a < b ? -1 : 1).map(([, it]) =>
      it
    );
  }

  /** The names of all collections that hold something. */
  get collections(): readonly string[] {
    return [...this.#collections].filter(([, objects]) => objects.size > 0).map(([name]) => name);
  }

  /**
   * Puts an object in place of what is there.
   *
   * @param collection `group/plural`.
   * @param key `namespace/name`, or the name.
   * @param object The object; its resourceVersion is set here.
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

  /** Takes an object away. */
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
   * The changes after a revision, oldest first.
   *
   * @throws {CompactedError} If some of them are forgotten.
   */
  changesSince(revision: number, collection: string): Change[] {
    const oldest = Math.max(this.#compacted, this.#begun.get(collection) ?? 0);
    if (revision < oldest) throw new CompactedError(oldest);
    const found: Change[] = [];
    for (let i = this.#changes.length - 1; i >= 0; i--) {
      const change = this.#changes[i];
      if (change === undefined || change.revision <= revision) break;
      if (change.collection === collection) found.push(change);
    }
    return found.reverse();
  }

  /** Lets the history of a collection begin: what was before its kind was served is not known to watches. */
  begin(collection: string): void {
    this.#begun.set(collection, this.#revision);
  }

  /** Forgets all changes so far: a watch from before now is refused. */
  compact(): void {
    this.#compacted = this.#revision;
    this.#changes = [];
  }

  #collection(name: string): Map<string, StoredObject> {
    const known = this.#collections.get(name);
    if (known !== undefined) return known;
    const made = new Map<string, StoredObject>();
    this.#collections.set(name, made);
    return made;
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
    // Half of them go at once, so that the array is not moved with each change.
    if (this.#changes.length > 2 * this.#history) {
      const forgotten = this.#changes.splice(0, this.#changes.length - this.#history);
      this.#compacted = forgotten.at(-1)?.revision ?? this.#compacted;
    }
    for (const listener of [...this.#listeners]) listener(change);
  }
}

function withRevision(object: StoredObject, revision: number): StoredObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}
