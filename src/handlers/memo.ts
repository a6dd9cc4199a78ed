/** Values in memory that belong to objects. */

/** An object, as far as memos need it. */
export interface Identified {
  /** The metadata; the uid identifies the object. */
  readonly metadata: { readonly uid: string };
}

/**
 * A kind of value that a process keeps for each object. See {@linkcode memo}.
 *
 * @typeParam T The value.
 * @typeParam O The objects.
 */
export interface Memo<T, in O extends Identified = Identified> {
  /** Creates the value for an object. */
  readonly create: (object: O) => T;
}

/**
 * Declares a value that a process keeps in memory for each object.
 *
 * The value is created when it is first used for an object. All handlers of the object share it. It
 * is disposed of (`Symbol.asyncDispose` or `Symbol.dispose`) after the object is deleted, or when
 * the process stops handling objects.
 *
 * @param create Creates the value for an object. If it throws, or returns a promise that rejects,
 *   the next use creates the value again.
 *
 * @example Usage
 * ```ts
 * import { memo, on } from "@op/sdk";
 * import { ConfigMap } from "@op/sdk/kinds";
 *
 * const changes = memo(() => ({ count: 0 }));
 *
 * const count = on.update(ConfigMap, (_map, { memo, log }) => {
 *   log.info("Changed", { count: ++memo(changes).count });
 * });
 * ```
 */
export function memo<T, O extends Identified = Identified>(create: (object: O) => T): Memo<T, O> {
  return { create };
}

/**
 * The values of all memos while a process handles objects.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const pings = memo(() => ({ count: 0 }));
 * await using store = new MemoStore(() => {});
 * const site = { metadata: { uid: "1" } };
 * store.get(pings, site).count++;
 * assert.equal(store.get(pings, site).count, 1);
 * ```
 */
export class MemoStore<O extends Identified = Identified> implements AsyncDisposable {
  readonly #onError: (error: unknown, uid: string) => void;
  /** The values by the uid of the object, in the order of their creation. */
  readonly #values = new Map<string, Map<Memo<unknown, O>, unknown>>();
  #isDisposed = false;

  /** @param onError Receives errors of disposing of a value, with the uid of its object. */
  constructor(onError: (error: unknown, uid: string) => void) {
    this.#onError = onError;
  }

  /** Number of objects that have values. */
  get size(): number {
    return this.#values.size;
  }

  /**
   * Returns the value of a memo for an object, and creates it if necessary.
   *
   * @throws {Error} If the store was disposed of.
   */
  get<T>(memo: Memo<T, O>, object: O): T {
    const { uid } = object.metadata;
    const values = this.#values.get(uid);
    if (values?.has(memo)) return values.get(memo) as T;
    if (this.#isDisposed) {
      throw new Error(
        `memo(): this process no longer handles the object with uid "${uid}". End handlers when "signal" is aborted.`,
      );
    }
    const value = memo.create(object);
    // Read again: `create` may have used other memos of the object.
    const after = this.#values.get(uid) ?? new Map<Memo<unknown, O>, unknown>();
    this.#values.set(uid, after.set(memo, value));
    if (value instanceof Promise) value.catch(() => this.#forget(memo, uid, value));
    return value;
  }

  /**
   * Disposes of the values of an object that was deleted, the last one first. Errors are reported;
   * the promise never rejects.
   */
  async delete(uid: string): Promise<void> {
    const values = [...this.#values.get(uid)?.values() ?? []];
    this.#values.delete(uid);
    for (const value of values.reverse()) {
      try {
        await dispose(await settled(value));
      } catch (error) {
        this.#onError(error, uid);
      }
    }
  }

  /** Disposes of all values. Values cannot be created afterwards. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    await Promise.all([...this.#values.keys()].map((uid) => this.delete(uid)));
  }

  #forget(memo: Memo<unknown, O>, uid: string, value: unknown): void {
    const values = this.#values.get(uid);
    if (values === undefined || values.get(memo) !== value) return;
    values.delete(memo);
    if (values.size === 0) this.#values.delete(uid);
  }
}

/**
 * Returns the value of a promise, or `undefined` if it rejects: the user of the value has the
 * error.
 */
async function settled(value: unknown): Promise<unknown> {
  try {
    return await value;
  } catch {
    return undefined;
  }
}

/** Disposes of a value as `await using` does. */
async function dispose(value: unknown): Promise<void> {
  if (typeof value !== "object" && typeof value !== "function" || value === null) return;
  const { [Symbol.asyncDispose]: asyncDispose, [Symbol.dispose]: syncDispose } = value as Partial<
    AsyncDisposable & Disposable
  >;
  await (asyncDispose ?? syncDispose)?.call(value);
}
