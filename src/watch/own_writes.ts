/**
 * Makes reads return the process's own writes. The response to a write is stored immediately, and
 * listeners receive the writer with the change, even if its event is received before the response.
 * Events of an object are held back while a write to it is pending, because only the response shows
 * which of them is the event of the write.
 */
import type { KubeObject } from "../resource/kind.ts";
import { keyOf, type ObjectKey } from "./key.ts";
import { isComparable } from "./resource_version.ts";
import type { Store, StoreChange } from "./store.ts";

/** A writer: a controller, by its key among the parts, and the object that it reconciles. */
export interface Writer {
  readonly part: string;
  readonly key: ObjectKey;
}

/** Called with a change. `by` is the writer if this process made the change. */
export type Notify = (change: StoreChange, by: Writer | undefined) => void;

/** The pending writes of one object, and the changes that were received during the writes. */
interface PendingWrites {
  count: number;
  /** Whether the event of the object's deletion was received. */
  sawDeletion: boolean;
  heldChanges: StoreChange[];
}

/** The writes of this process to the objects of a store. */
export class OwnWrites {
  readonly #store: Store;
  readonly #notify: Notify;
  readonly #writes = new Map<ObjectKey, PendingWrites>();

  constructor(store: Store, notify: Notify) {
    this.#store = store;
    this.#notify = notify;
  }

  /** Handles a change of the store that an event caused. */
  onEvent(change: StoreChange | undefined): void {
    if (change === undefined) return;
    const writes = this.#writes.get(keyOf((change.after ?? change.before)!.metadata));
    if (writes === undefined) this.#notify(change, undefined);
    else writes.heldChanges.push(change);
  }

  /**
   * Handles the event of a deletion. A pending write may have been processed before the deletion,
   * so its response must not restore the object.
   */
  onDeletion(object: KubeObject): void {
    const writes = this.#writes.get(keyOf(object.metadata));
    if (writes !== undefined) writes.sawDeletion = true;
    this.onEvent(writes === undefined ? this.#store.delete(object) : this.#store.deleteOwn(object));
  }

  /**
   * Sends a write and stores its response.
   *
   * @param key Key of the object.
   * @param by The writer.
   * @param send Sends the request.
   */
  async write<Object extends KubeObject>(key: ObjectKey, by: Writer, send: () => Promise<Object>): Promise<Object> {
    const writes = this.#begin(key);
    let response: Object | undefined;
    try {
      return response = await send();
    } finally {
      const { resourceVersion } = response?.metadata ?? {};
      const isOwn = ({ after }: StoreChange): boolean =>
        response !== undefined && after?.metadata.resourceVersion === resourceVersion;
      // If versions cannot be compared, a response that arrives after the event of the write must
      // not replace later changes.
      const isOutdated = writes.heldChanges.some(isOwn) && !isComparable(resourceVersion ?? "");
      this.#end(key, writes, by, isOwn);
      if (response !== undefined && !isOutdated) this.#storeResponse(response, by);
      this.#release(key, writes);
    }
  }

  /**
   * Sends a deletion. The object is removed from the store before its event is received.
   *
   * @param key Key of the object.
   * @param by The writer.
   * @param send Sends the request. It returns the object if it still exists because of
   *   finalizers or its grace period.
   */
  async remove(key: ObjectKey, by: Writer, send: () => Promise<KubeObject | undefined>): Promise<void> {
    const writes = this.#begin(key);
    const uid = this.#store.get(key)?.metadata.uid;
    let response: { readonly remaining: KubeObject | undefined } | undefined;
    try {
      response = { remaining: await send() };
    } finally {
      this.#end(
        key,
        writes,
        by,
        ({ before, after }) => {
          if (response?.remaining !== undefined) {
            return after?.metadata.resourceVersion === response.remaining.metadata.resourceVersion;
          }
          return response !== undefined && after === undefined && before?.metadata.uid === uid;
        },
      );
      const stored = this.#store.get(key);
      if (response?.remaining !== undefined) this.#storeResponse(response.remaining, by);
      else if (response !== undefined && stored !== undefined && stored.metadata.uid === uid) {
        this.#notifyIf(this.#store.deleteOwn(stored), by);
      }
      this.#release(key, writes);
    }
  }

  #begin(key: ObjectKey): PendingWrites {
    const writes = this.#writes.get(key) ?? { count: 0, sawDeletion: false, heldChanges: [] };
    this.#writes.set(key, writes);
    writes.count++;
    return writes;
  }

  /** Ends a write. Reports the changes of the write, if already received, with its writer. */
  #end(key: ObjectKey, writes: PendingWrites, by: Writer, isOwn: (change: StoreChange) => boolean): void {
    if (--writes.count === 0) this.#writes.delete(key);
    if (writes.heldChanges.length === 0) return;
    const own = writes.heldChanges.filter(isOwn);
    writes.heldChanges = writes.heldChanges.filter((change) => !own.includes(change));
    for (const change of own) this.#notify(change, by);
  }

  /** Reports the remaining changes when no write to the object is pending. */
  #release(key: ObjectKey, writes: PendingWrites): void {
    if (writes.count > 0) return;
    if (writes.sawDeletion) this.#store.forgetDeleted(key);
    for (const change of writes.heldChanges) this.#notify(change, undefined);
  }

  #storeResponse(response: KubeObject, by: Writer): void {
    const { deletionTimestamp, deletionGracePeriodSeconds, finalizers = [] } = response.metadata;
    // An object in its grace period also has no finalizers, but exists until the event of its
    // deletion.
    const isDeleted = deletionTimestamp !== undefined && finalizers.length === 0 && !deletionGracePeriodSeconds;
    this.#notifyIf(isDeleted ? this.#store.deleteOwn(response) : this.#store.setWritten(response), by);
  }

  #notifyIf(change: StoreChange | undefined, by: Writer): void {
    if (change !== undefined) this.#notify(change, by);
  }
}
