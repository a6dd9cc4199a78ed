/**
 * Reads show one's own writes: the answer to a write goes into the store at once, and the event of the write, whether it comes before the answer or
 * after it, is told as the writer's own. Events of an object that is being written are held back until the answer says which of them is which.
 */
import type { KubeObject } from "../resource/kind.ts";
import { keyOf, type ObjectKey } from "./key.ts";
import { compares } from "./resource_version.ts";
import type { Store, StoreChange } from "./store.ts";

/** Who writes: a controller, by its key among the parts, for one of its objects. */
export interface Writer {
  readonly part: string;
  readonly key: ObjectKey;
}

/** Told of a change; `by` is the writer where it is a write of this process. */
export type Tell = (change: StoreChange, by: Writer | undefined) => void;

/** Writes of one object that go on, and the changes of it that came meanwhile. */
interface Writes {
  count: number;
  /** Whether an event said that the object was deleted. */
  sawDeletion: boolean;
  held: StoreChange[];
}

/** The writes of this process to the objects of a store. */
export class OwnWrites {
  readonly #store: Store;
  readonly #tell: Tell;
  readonly #writes = new Map<ObjectKey, Writes>();

  constructor(store: Store, tell: Tell) {
    this.#store = store;
    this.#tell = tell;
  }

  /** Hears of a change that came by an event. */
  hear(change: StoreChange | undefined): void {
    if (change === undefined) return;
    const writes = this.#writes.get(keyOf((change.after ?? change.before)!.metadata));
    if (writes === undefined) this.#tell(change, undefined);
    else writes.held.push(change);
  }

  /** Hears of a deletion that came by an event. While a write goes on, its answer may be of before: it must not bring the object back. */
  hearDeletion(object: KubeObject): void {
    const writes = this.#writes.get(keyOf(object.metadata));
    if (writes !== undefined) writes.sawDeletion = true;
    this.hear(writes === undefined ? this.#store.delete(object) : this.#store.noteDeleted(object));
  }

  /**
   * Sends a write and takes its answer in.
   *
   * @param key The key of what is written.
   * @param by Who writes.
   * @param send Sends it.
   */
  async write<Object extends KubeObject>(key: ObjectKey, by: Writer, send: () => Promise<Object>): Promise<Object> {
    const writes = this.#begin(key);
    let answer: Object | undefined;
    try {
      return answer = await send();
    } finally {
      const { resourceVersion } = answer?.metadata ?? {};
      const isOwn = ({ after }: StoreChange): boolean =>
        answer !== undefined && after?.metadata.resourceVersion === resourceVersion;
      // Where versions do not compare, what came after the event of the write must not be taken back by its answer.
      const isPassed = writes.held.some(isOwn) && !compares(resourceVersion ?? "");
      this.#end(key, writes, by, isOwn);
      if (answer !== undefined && !isPassed) this.#note(answer, by);
      this.#release(key, writes);
    }
  }

  /**
   * Sends a deletion. What is gone by it is gone from the store before its event comes.
   *
   * @param key The key of what is deleted.
   * @param by Who deletes.
   * @param send Sends it; answers the object where it stays for now, for its finalizers or for grace.
   */
  async remove(key: ObjectKey, by: Writer, send: () => Promise<KubeObject | undefined>): Promise<void> {
    const writes = this.#begin(key);
    const uid = this.#store.get(key)?.metadata.uid;
    let answer: { readonly stays: KubeObject | undefined } | undefined;
    try {
      answer = { stays: await send() };
    } finally {
      this.#end(
        key,
        writes,
        by,
        ({ before, after }) => {
          if (answer?.stays !== undefined) {
            return after?.metadata.resourceVersion === answer.stays.metadata.resourceVersion;
          }
          return answer !== undefined && after === undefined && before?.metadata.uid === uid;
        },
      );
      const held = this.#store.get(key);
      if (answer?.stays !== undefined) this.#note(answer.stays, by);
      else if (answer !== undefined && held !== undefined && held.metadata.uid === uid) {
        this.#tellIf(this.#store.noteDeleted(held), by);
      }
      this.#release(key, writes);
    }
  }

  #begin(key: ObjectKey): Writes {
    const writes = this.#writes.get(key) ?? { count: 0, sawDeletion: false, held: [] };
    this.#writes.set(key, writes);
    writes.count++;
    return writes;
  }

  /** Tells the write's own event as the writer's. */
  #end(key: ObjectKey, writes: Writes, by: Writer, isOwn: (change: StoreChange) => boolean): void {
    if (--writes.count === 0) this.#writes.delete(key);
    if (writes.held.length === 0) return;
    const own = writes.held.filter(isOwn);
    writes.held = writes.held.filter((change) => !own.includes(change));
    for (const change of own) this.#tell(change, by);
  }

  /** Tells the rest, when no other write of the object goes on. */
  #release(key: ObjectKey, writes: Writes): void {
    if (writes.count > 0) return;
    if (writes.sawDeletion) this.#store.forgetDeleted(key);
    for (const change of writes.held) this.#tell(change, undefined);
  }

  #note(answer: KubeObject, by: Writer): void {
    const { deletionTimestamp, deletionGracePeriodSeconds, finalizers = [] } = answer.metadata;
    // An object that terminates gracefully has no finalizer either: it stays until its event says it went.
    const isGone = deletionTimestamp !== undefined && finalizers.length === 0 && !deletionGracePeriodSeconds;
    this.#tellIf(isGone ? this.#store.noteDeleted(answer) : this.#store.note(answer), by);
  }

  #tellIf(change: StoreChange | undefined, by: Writer): void {
    if (change !== undefined) this.#tell(change, by);
  }
}
