/**
 * Keeps a store up to date with lists and watches. This module sends the requests; `step.ts`
 * computes the next state and the changes of the store.
 */
import { linked } from "../base/abort.ts";
import { backoff } from "../base/backoff.ts";
import { type Clock, sleep } from "../base/clock.ts";
import { InternalError } from "../base/internal_error.ts";
import { ApiError, isStatus } from "../kube/api_error.ts";
import type { SelectOptions, WatchEvent } from "../kube/calls.ts";
import type { Client } from "../kube/client.ts";
import { TruncatedStreamError } from "../kube/connection_error.ts";
import type { AnyKind, KubeObject, ManagedFields } from "../resource/kind.ts";
import type { ObjectKey } from "./key.ts";
import { OwnWrites, type Writer } from "./own_writes.ts";
import { isNewer } from "./resource_version.ts";
import { type Change, type Received, rejectIncompleteEvent, START, type State, step } from "./step.ts";
import { Store, type StoreChange } from "./store.ts";
import { StreamMonitor } from "./stream_monitor.ts";

// kube-rs and client-go wait 0.8 s to 30 s. A restart of the server takes less time, so the first
// retries are faster.
const RETRY = { first: 200, longest: 30_000 };
// The server ends a watch after 5 to 10 minutes, as with client-go. The random spread keeps watches
// from reconnecting at the same time.
const MIN_WATCH_SECONDS = 300;
// A probe of a silent stream opens a second watch for `seconds`. `timeout` is the longest time for
// its response, and `grace` the time for the stream to receive the same events, in milliseconds.
const PROBE = { seconds: 1, timeout: 10_000, grace: 1000 };
// In milliseconds. A stream that ends sooner without an event counts as a failure, so that the next
// attempt is delayed.
const MIN_STREAM = 1000;

/** Options of {@linkcode Informer}. */
export interface InformerOptions extends Pick<SelectOptions, "namespace" | "labelSelector" | "fieldSelector"> {
  readonly clock: Clock;
  /** Returns a random number from 0 to 1, which spreads delays. */
  readonly random: () => number;
  /** Whether to request only the metadata of objects. @default {false} */
  readonly metadataOnly?: boolean;
  /** Returns whether to store an entry of `managedFields`. Other entries are removed. */
  readonly keepsFieldsOf: (entry: ManagedFields) => boolean;
  /**
   * Called with the error when the watch fails, and with `undefined` when it recovers. Repeated
   * messages are suppressed.
   */
  readonly onProblem: (problem: Error | undefined) => void;
}

/**
 * Called with each change. `by` is the writer if this process made the change, otherwise
 * `undefined`. `initial` is true for objects of the first list.
 */
export type ChangeListener = (change: StoreChange, by: Writer | undefined, initial: boolean) => void;

/** Watches the objects of a kind, or a selection of them, and stores them. */
export class Informer {
  readonly kind: AnyKind;
  readonly store: Store = new Store();
  /** Resolves when the first list is stored. */
  readonly synced: Promise<void>;
  /** The error of the watch, or `undefined` while it works. */
  problem: Error | undefined;
  /** Number of responses and events so far. Tests wait until it stops increasing. */
  activity = 0;
  /** Number of failures of the watch. */
  restarts = 0;
  /** Time of the last response or event, in milliseconds of `Clock.elapsed`. */
  #lastReceived: number;
  #state: State = START;
  #failures = 0;
  #listeners: readonly ChangeListener[] = [];
  #servedListeners: readonly (() => void)[] = [];
  /** Called with `undefined` at the next sync, or with the error that prevents it. */
  readonly #waiting = new Set<(problem: Error | undefined) => void>();
  readonly #ownWrites: OwnWrites = new OwnWrites(this.store, (change, by) => this.#notify(change, by));
  readonly #client: Client;
  readonly #options: InformerOptions;
  readonly #sync = Promise.withResolvers<void>();
  #isSynced = false;
  #listenerError: InternalError | undefined;

  constructor(client: Client, kind: AnyKind, options: InformerOptions) {
    this.kind = kind;
    this.#client = client;
    this.#options = options;
    this.#lastReceived = options.clock.elapsed();
    this.synced = this.#sync.promise;
  }

  /** Whether a label or field selector limits the watched objects. */
  get isSelected(): boolean {
    return this.#options.labelSelector !== undefined || this.#options.fieldSelector !== undefined;
  }

  /**
   * The selection for messages, with a leading space, such as ` in shop app=web`. Empty if all
   * objects are watched.
   */
  get selectionText(): string {
    const { labelSelector, fieldSelector, namespace } = this.#options;
    const parts = [namespace === undefined ? "" : `in ${namespace}`, labelSelector ?? "", fieldSelector ?? ""];
    return parts.filter((part) => part !== "").map((part) => ` ${part}`).join("");
  }

  /** Whether the first list is stored. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** Milliseconds since the last response or event. */
  get staleness(): number {
    return this.#options.clock.elapsed() - this.#lastReceived;
  }

  /**
   * Adds a listener. If it is added before {@linkcode run}, it gets all changes. Disposing of the
   * result removes it.
   */
  listen(listener: ChangeListener): Disposable {
    // A new list each time, because a listener may be removed while listeners are called.
    this.#listeners = [...this.#listeners, listener];
    return {
      [Symbol.dispose]: () => void (this.#listeners = this.#listeners.filter((each) => each !== listener)),
    };
  }

  /** Adds a listener that is called when the cluster serves the kind again. */
  onServedAgain(listener: () => void): void {
    this.#servedListeners = [...this.#servedListeners, listener];
  }

  /**
   * Waits for the first list. Rejects with the error of the watch if it fails before.
   *
   * @param signal Stops waiting.
   */
  async ready(signal: AbortSignal): Promise<void> {
    if (this.#isSynced) return;
    if (this.problem !== undefined) throw this.problem;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stop = (): void => reject(signal.reason);
    const onSync = (problem: Error | undefined): void => problem === undefined ? resolve() : reject(problem);
    this.#waiting.add(onSync);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    await promise.finally(() => {
      this.#waiting.delete(onSync);
      signal.removeEventListener("abort", stop);
    });
  }

  /**
   * Sends a write and stores its response, so that later reads return it or a newer version.
   * Listeners receive `by` with the change, even if the event of the write arrives before the
   * response.
   *
   * @param key Key of the object.
   * @param by The writer, for listeners.
   * @param send Sends the request.
   * @returns The response, trimmed like stored objects.
   */
  write<Object extends KubeObject>(key: ObjectKey, by: Writer, send: () => Promise<Object>): Promise<Object> {
    return this.#ownWrites.write(key, by, async () => this.#trim(await send()));
  }

  /**
   * Sends a deletion. Later reads do not return an object that was deleted by it.
   *
   * @param key Key of the object.
   * @param by The writer, for listeners.
   * @param send Sends the request. It returns the object if that still exists.
   */
  remove(key: ObjectKey, by: Writer, send: () => Promise<KubeObject | undefined>): Promise<void> {
    return this.#ownWrites.remove(key, by, async () => {
      const remaining = await send();
      return remaining && this.#trim(remaining);
    });
  }

  /**
   * Watches until the signal is aborted. Errors are reported, and the watch is retried.
   *
   * @throws {InternalError} If a listener threw an error.
   */
  async run(signal: AbortSignal): Promise<void> {
    const rejectWaiting = (): void => this.#settleWaiting(signal.reason);
    signal.addEventListener("abort", rejectWaiting, { once: true });
    while (!signal.aborted) {
      try {
        await this.#readOnce(signal);
      } catch (error) {
        if (signal.aborted) return;
        if (this.#listenerError !== undefined) throw this.#listenerError;
        await this.#onFailure(error, signal).catch(() => undefined);
      }
    }
  }

  /** Reads one page of a list, or one stream. */
  async #readOnce(signal: AbortSignal): Promise<void> {
    const { namespace, labelSelector, fieldSelector, metadataOnly } = this.#options;
    const select: SelectOptions = {
      signal,
      ...(namespace === undefined ? {} : { namespace }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
      ...(metadataOnly ? { metadataOnly } : {}),
    };
    const state = this.#state;
    if (state.at !== "live") this.store.beginListing();
    if (state.at === "paging" || (state.at === "start" && !state.streams)) {
      const from = state.at === "paging" ? state.next : undefined;
      const { items, resourceVersion, continue: next } = await this.#client.page(this.kind, from, select);
      return this.#advance({ type: "page", items: items as KubeObject[], resourceVersion, next });
    }
    await this.#stream(state, select, signal);
  }

  async #stream(state: State, select: SelectOptions, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    const timeoutSeconds = Math.round(MIN_WATCH_SECONDS * (1 + random()));
    const opened = clock.elapsed();
    using monitor = new StreamMonitor({
      clock,
      signal,
      kind: this.kind.kind,
      probe: (signal) => this.#missedEvent(select, signal),
    });
    const onOpen = (): void => {
      monitor.opened();
      // The first event may take minutes, but an accepted watch proves that the kind is served
      // again.
      if (state.at === "live" && this.#isUnserved) this.#onRecovery();
    };
    const options = { ...select, signal: monitor.signal, timeoutSeconds, onOpen };
    const events = state.at === "live"
      ? this.#client.watch(this.kind, { ...options, resourceVersion: state.resourceVersion })
      : this.#client.watch(this.kind, { ...options, sendInitialEvents: true });
    if (state.at === "start") this.#state = { at: "initial", streams: true, seen: new Set() };
    let isEmpty = true;
    for await (const batch of events) {
      isEmpty = false;
      this.#lastReceived = clock.elapsed();
      for (const event of batch) this.#onEvent(event);
      monitor.received(batch);
    }
    if (signal.aborted) return;
    monitor.signal.throwIfAborted();
    if (this.#state.at !== "live") {
      const count = this.#state.at === "initial" ? this.#state.seen.size : 0;
      throw new TruncatedStreamError(
        `Cannot watch ${this.kind.kind}: the stream ended before the initial list was complete, after ${count} objects`,
      );
    }
    if (isEmpty && clock.elapsed() - opened < MIN_STREAM) {
      throw new Error(`Cannot watch ${this.kind.kind}: the server ended the watch immediately`);
    }
    this.#advance({ type: "end" });
  }

  /**
   * Probes a silent stream: returns whether a second watch from the same version receives an event
   * that the stream did not receive.
   */
  async #missedEvent(select: SelectOptions, signal: AbortSignal): Promise<boolean> {
    if (this.#state.at !== "live") return false;
    const { clock } = this.#options;
    const { resourceVersion } = this.#state;
    using timeout = linked([signal]);
    using _timer = clock.after(PROBE.timeout, () => timeout.abort(new DOMException("No response", "TimeoutError")));
    const options = { ...select, signal: timeout.signal, resourceVersion, timeoutSeconds: PROBE.seconds };
    let newest: string | undefined;
    for await (const batch of this.#client.watch(this.kind, options)) {
      for (const { type, object } of batch) {
        if (type !== "BOOKMARK" && type !== "ERROR") newest = object.metadata.resourceVersion;
      }
    }
    if (newest === undefined) return false;
    // A recent change may not have arrived on the stream yet.
    await sleep(clock, PROBE.grace, signal);
    return this.#state.at === "live" && isNewer(newest, this.#state.resourceVersion);
  }

  #onEvent(event: WatchEvent): void {
    if (event.type === "ERROR") {
      throw new ApiError(
        { verb: "watch", target: this.kind.kind },
        event.object.code ?? 500,
        JSON.stringify(event.object),
      );
    }
    rejectIncompleteEvent(this.kind, event);
    // Events of an incomplete list do not prove that the watch works.
    if (this.#state.at === "live") this.#onRecovery();
    this.#advance({ type: "event", event });
  }

  #advance(received: Received): void {
    this.activity++;
    // For events, `#stream` sets the time once per batch.
    if (received.type !== "end" && received.type !== "event") this.#lastReceived = this.#options.clock.elapsed();
    const { state, changes } = step(this.#state, received);
    this.#state = state;
    for (const change of changes) this.#apply(change);
  }

  #apply(change: Change): void {
    switch (change.do) {
      case "set":
        return this.#ownWrites.onEvent(this.store.set(change.object, this.#trim));
      case "delete":
        return this.#ownWrites.onDeletion(change.object);
      case "retain":
        for (const deletion of this.store.retain(change.seen, change.resourceVersion)) {
          this.#ownWrites.onEvent(deletion);
        }
        this.#onRecovery();
        this.#isSynced = true;
        this.#settleWaiting(undefined);
        return this.#sync.resolve();
    }
  }

  #notify(change: StoreChange, by: Writer | undefined): void {
    for (const listener of this.#listeners) {
      try {
        listener(change, by, !this.#isSynced);
      } catch (cause) {
        // User callbacks never throw at this point: the caller catches their errors. A retry would
        // receive the same event and fail in the same way.
        const error = new InternalError(`Cannot watch ${this.kind.kind}: a listener failed`, { cause });
        this.#listenerError ??= error;
        throw error;
      }
    }
  }

  /**
   * Removes unused `managedFields`, which are most of an object's bytes. The object was just
   * parsed, so it is changed in place. Its metadata is a new object: V8 turns an object with a
   * deleted property into a hash table, which takes more memory than the property.
   */
  readonly #trim = <Object extends KubeObject>(whole: Object): Object => {
    const { managedFields, ...rest } = whole.metadata;
    const used = managedFields?.filter(this.#options.keepsFieldsOf) ?? [];
    const metadata = used.length === 0 ? rest : { ...rest, managedFields: used };
    // Sharing these strings saves memory: the parser creates new ones for each object.
    const { apiVersion, kind } = this.kind;
    if (this.#options.metadataOnly) return { apiVersion, kind, metadata } as Object;
    return Object.assign(whole, { apiVersion, kind, metadata });
  };

  #settleWaiting(problem: Error | undefined): void {
    for (const settle of [...this.#waiting]) settle(problem);
  }

  /** Whether the watch fails because the cluster does not serve the kind. */
  get #isUnserved(): boolean {
    return isStatus(this.problem?.cause, 404);
  }

  #onRecovery(): void {
    this.#failures = 0;
    if (this.problem === undefined) return;
    const wasUnserved = this.#isUnserved;
    this.problem = undefined;
    this.#options.onProblem(undefined);
    if (wasUnserved && this.#isSynced) { for (const listener of this.#servedListeners) listener(); }
  }

  async #onFailure(error: unknown, signal: AbortSignal): Promise<void> {
    const { clock, random, onProblem } = this.#options;
    if (isStatus(error, 410)) {
      this.#advance({ type: "expiry" });
      // One 410 is normal. If it repeats, wait before the next attempt.
      if (++this.#failures > 1) await sleep(clock, backoff(this.#failures, { ...RETRY, spread: random() }), signal);
      return;
    }
    if (this.#state.at === "initial" && (isStatus(error, 400) || isStatus(error, 422))) {
      this.#advance({ type: "rejection", isPermanent: true });
      return;
    }
    // If the watch cache does not catch up with etcd, the server rejects a streaming list after
    // three seconds ("Too large resource version"). It serves a paged list from etcd, so the next
    // attempt requests pages, as client-go does.
    if (this.#state.at === "initial" && isStatus(error, 504)) {
      this.#advance({ type: "rejection", isPermanent: false });
      return;
    }
    this.#advance({ type: "end" });
    this.restarts++;
    const problem = this.#withHint(error);
    if (this.problem?.message !== problem.message) onProblem(problem);
    this.problem = problem;
    this.#settleWaiting(problem);
    await sleep(clock, backoff(++this.#failures, { ...RETRY, spread: random() }), signal);
  }

  #withHint(error: unknown): Error {
    const { kind } = this;
    if (isStatus(error, 404)) {
      return new Error(
        `Cannot watch ${kind.kind}: the API server does not serve "${kind.plural}" of ${kind.apiVersion}. ${
          installAdvice(kind)
        }`,
        { cause: error },
      );
    }
    if (isStatus(error, 403)) {
      return new Error(`${error.message}. Grant this user the verbs list and watch on "${kind.plural}"`, {
        cause: error,
      });
    }
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Returns advice for a kind that is not served. */
function installAdvice({ apiVersion, crd, external }: AnyKind): string {
  if (crd === undefined) return `Check that the cluster's version of Kubernetes has ${apiVersion}.`;
  const { name } = crd.metadata;
  return external
    ? `Install the project that its CustomResourceDefinition "${name}" belongs to; the watch starts once it is served.`
    : `Install its CustomResourceDefinition "${name}": run "op deploy", or apply the output of the operator's command "crds".`;
}
