/** Keeps a store live: lists, watches, and starts over where it must. What to do is decided in `step.ts`; here it is done. */
import { linked } from "../base/abort.ts";
import { backoff } from "../base/backoff.ts";
import { type Clock, sleep } from "../base/clock.ts";
import { InternalError } from "../base/internal_error.ts";
import { ApiError, isStatus } from "../kube/api_error.ts";
import type { SelectOptions, WatchEvent } from "../kube/calls.ts";
import type { Client } from "../kube/client.ts";
import { TruncatedStreamError } from "../kube/truncated_stream_error.ts";
import type { AnyKind, KubeObject, ManagedFields } from "../resource/kind.ts";
import { refuseGarbage } from "./garbage.ts";
import type { ObjectKey } from "./key.ts";
import { OwnWrites, type Writer } from "./own_writes.ts";
import { isNewer } from "./resource_version.ts";
import { listenForSilence } from "./silence.ts";
import { type Change, START, type State, step } from "./step.ts";
import { Store, type StoreChange } from "./store.ts";

// kube-rs waits from 0.8 s to 30 s, client-go as well; a restart of the server is over sooner, so the first tries are quick.
const RETRY = { first: 200, longest: 30_000 };
// The server ends a watch after 5 to 10 minutes, as client-go asks it to: the spread keeps operators from coming back all at once.
const SHORTEST_WATCH_SECONDS = 300;
// A glance at what a silent stream may have missed: how long the server holds it open, how long we wait for it, and for the stream after it.
const GLANCE = { seconds: 1, limit: 10_000, grace: 1000 };
// A stream that the server ends sooner than this without a word is a failure: to open the next one at once would be a storm.
const SHORTEST_STREAM = 1000;

/** Options of {@linkcode Informer}. */
export interface InformerOptions extends Pick<SelectOptions, "namespace" | "labelSelector" | "fieldSelector"> {
  readonly clock: Clock;
  /** From 0 to 1: spreads waiting times. */
  readonly random: () => number;
  /** Whether only the objects' metadata is asked for. @default {false} */
  readonly metadataOnly?: boolean;
  /** Which entries of `managedFields` are kept; the rest is dropped on arrival. */
  readonly keepsFieldsOf: (entry: ManagedFields) => boolean;
  /** Told when the watch cannot go on, with the error, and with nothing when it can again. Repeats of one message are not told. */
  readonly onProblem: (problem: Error | undefined) => void;
}

/**
 * Told of a change. `by` is the writer where the change is a write of this process, noted before its event came; `initial` says that it was found
 * by the first listing.
 */
export type ChangeListener = (change: StoreChange, by: Writer | undefined, initial: boolean) => void;

/** A live copy of a kind's objects, or of those that are selected. */
export class Informer {
  readonly kind: AnyKind;
  readonly store: Store = new Store();
  /** Settles when all that there was at first is held. */
  readonly synced: Promise<void>;
  /** Why the watch cannot go on just now. */
  problem: Error | undefined;
  /** Grows with whatever comes in: a test sees by it that nothing is under way. */
  activity = 0;
  /** How often the watch broke off. */
  restarts = 0;
  /** When it last heard from the server. */
  #heard: number;
  #state: State = START;
  #failures = 0;
  #listeners: readonly ChangeListener[] = [];
  #servedListeners: readonly (() => void)[] = [];
  /** Told of the next sync, or of what goes wrong before it. */
  readonly #waiting = new Set<(problem: Error | undefined) => void>();
  readonly #own: OwnWrites = new OwnWrites(this.store, (change, by) => this.#tell(change, by));
  readonly #client: Client;
  readonly #options: InformerOptions;
  readonly #sync = Promise.withResolvers<void>();
  #isSynced = false;
  #broken: InternalError | undefined;

  constructor(client: Client, kind: AnyKind, options: InformerOptions) {
    this.kind = kind;
    this.#client = client;
    this.#options = options;
    this.#heard = options.clock.elapsed();
    this.synced = this.#sync.promise;
  }

  /** Whether it holds some of the kind's objects, by their labels or fields. */
  get isSelected(): boolean {
    return this.#options.labelSelector !== undefined || this.#options.fieldSelector !== undefined;
  }

  /** What it holds of the kind, in words: nothing where it is all. */
  get selected(): string {
    const { labelSelector, fieldSelector, namespace } = this.#options;
    const parts = [namespace === undefined ? "" : `in ${namespace}`, labelSelector ?? "", fieldSelector ?? ""];
    return parts.filter((part) => part !== "").map((part) => ` ${part}`).join("");
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** For how many milliseconds nothing was heard: neither a change nor a bookmark. */
  get staleness(): number {
    return this.#options.clock.elapsed() - this.#heard;
  }

  /** Adds a listener. Those added before {@linkcode run} hear of everything. Disposing of the answer takes it off. */
  listen(listener: ChangeListener): Disposable {
    // Anew each time: a listener may go while a change is told.
    this.#listeners = [...this.#listeners, listener];
    return {
      [Symbol.dispose]: () => void (this.#listeners = this.#listeners.filter((each) => each !== listener)),
    };
  }

  /** Adds a listener that is told when the cluster serves the kind again, after it did not. */
  onServedAgain(listener: () => void): void {
    this.#servedListeners = [...this.#servedListeners, listener];
  }

  /**
   * Settles when it is synced; fails with the problem when it cannot be just now, or is watched no longer.
   *
   * @param signal Ends the waiting.
   */
  async ready(signal: AbortSignal): Promise<void> {
    if (this.#isSynced) return;
    if (this.problem !== undefined) throw this.problem;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stop = (): void => reject(signal.reason);
    const wait = (problem: Error | undefined): void => problem === undefined ? resolve() : reject(problem);
    this.#waiting.add(wait);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    await promise.finally(() => {
      this.#waiting.delete(wait);
      signal.removeEventListener("abort", stop);
    });
  }

  /**
   * Sends a write and takes its answer in, so that no read after it shows older. The write's event, whether it comes before the answer or after
   * it, changes nothing for the writer.
   *
   * @param key The key of what is written.
   * @param by Who writes: its own listener is told so.
   * @param send Sends it.
   * @returns The answer, trimmed as what is held.
   */
  write<Object extends KubeObject>(key: ObjectKey, by: Writer, send: () => Promise<Object>): Promise<Object> {
    return this.#own.write(key, by, async () => this.#trim(await send()));
  }

  /**
   * Sends a deletion; no read after it shows what it took away.
   *
   * @param key The key of what is deleted.
   * @param by Who deletes: its own listener is told so.
   * @param send Sends it; answers the object where it stays for now.
   */
  remove(key: ObjectKey, by: Writer, send: () => Promise<KubeObject | undefined>): Promise<void> {
    return this.#own.remove(key, by, async () => {
      const stays = await send();
      return stays && this.#trim(stays);
    });
  }

  /**
   * Watches until the signal. What goes wrong is told, and tried again.
   *
   * @throws {InternalError} If a listener failed: it cannot go on.
   */
  async run(signal: AbortSignal): Promise<void> {
    // Who waits is told that nothing comes any more.
    const end = (): void => this.#tellWaiting(signal.reason);
    signal.addEventListener("abort", end, { once: true });
    while (!signal.aborted) {
      try {
        await this.#once(signal);
      } catch (error) {
        if (signal.aborted) return;
        if (this.#broken !== undefined) throw this.#broken;
        await this.#failed(error, signal).catch(() => undefined);
      }
    }
  }

  /** One page of a list, or one stream. */
  async #once(signal: AbortSignal): Promise<void> {
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
      const page = await this.#client.page(this.kind, state.at === "paging" ? state.next : undefined, select);
      return this.#take({ came: "page", ...page, items: page.items as KubeObject[] });
    }
    await this.#stream(state, select, signal);
  }

  async #stream(state: State, select: SelectOptions, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    const timeoutSeconds = Math.round(SHORTEST_WATCH_SECONDS * (1 + random()));
    const opened = clock.elapsed();
    using silence = listenForSilence({
      clock,
      signal,
      what: this.kind.kind,
      glance: (signal) => this.#isMissing(select, signal),
    });
    const onOpen = (): void => {
      silence.opened();
      // Nothing may come of a kind for minutes; that it is served again shows at once.
      if (state.at === "live" && this.#isUnserved) this.#recovered();
    };
    const options = { ...select, signal: silence.signal, timeoutSeconds, onOpen };
    const events = state.at === "live"
      ? this.#client.watch(this.kind, { ...options, resourceVersion: state.resourceVersion })
      : this.#client.watch(this.kind, { ...options, initial: true });
    if (state.at === "start") this.#state = { at: "initial", streams: true, seen: new Set() };
    let isWordless = true;
    for await (const batch of events) {
      isWordless = false;
      this.#heard = clock.elapsed();
      for (const event of batch) this.#onEvent(event);
      silence.heard(batch);
    }
    if (signal.aborted) return;
    silence.signal.throwIfAborted();
    if (this.#state.at !== "live") {
      const received = this.#state.at === "initial" ? this.#state.seen.size : 0;
      throw new TruncatedStreamError(
        `Cannot watch ${this.kind.kind}: the stream ended before the initial list was complete, after ${received} objects`,
      );
    }
    if (isWordless && clock.elapsed() - opened < SHORTEST_STREAM) {
      throw new Error(`Cannot watch ${this.kind.kind}: the server ended the watch at once`);
    }
    this.#take({ came: "end" });
  }

  /** Whether another watch from here brings what the stream did not. */
  async #isMissing(select: SelectOptions, signal: AbortSignal): Promise<boolean> {
    if (this.#state.at !== "live") return false;
    const { clock } = this.#options;
    const { resourceVersion } = this.#state;
    using limit = linked([signal]);
    using _timer = clock.after(GLANCE.limit, () => limit.abort(new DOMException("No answer", "TimeoutError")));
    const glance = { ...select, signal: limit.signal, resourceVersion, timeoutSeconds: GLANCE.seconds };
    let newest: string | undefined;
    for await (const batch of this.#client.watch(this.kind, glance)) {
      for (const { type, object } of batch) {
        if (type !== "BOOKMARK" && type !== "ERROR") newest = object.metadata.resourceVersion;
      }
    }
    if (newest === undefined) return false;
    // What was written just now may be on its way on both.
    await sleep(clock, GLANCE.grace, signal);
    return this.#state.at === "live" && isNewer(newest, this.#state.resourceVersion);
  }

  #onEvent(event: WatchEvent): void {
    if (event.type === "ERROR") {
      throw new ApiError(
        { verb: "watch", what: this.kind.kind },
        event.object.code ?? 500,
        JSON.stringify(event.object),
      );
    }
    refuseGarbage(this.kind, event);
    // Events of a listing that is not complete do not show that the watch can go on.
    if (this.#state.at === "live") this.#recovered();
    this.#take({ came: "event", event });
  }

  #take(incoming: Parameters<typeof step>[1]): void {
    this.activity++;
    // Of events it is noted once for all that came together.
    if (incoming.came !== "end" && incoming.came !== "event") this.#heard = this.#options.clock.elapsed();
    const { state, changes } = step(this.#state, incoming);
    this.#state = state;
    for (const change of changes) this.#do(change);
  }

  #do(change: Change): void {
    switch (change.do) {
      case "set":
        return this.#own.hear(this.store.set(change.object, this.#trim));
      case "delete":
        return this.#own.hearDeletion(change.object);
      case "retain":
        for (const gone of this.store.retain(change.seen, change.resourceVersion)) this.#own.hear(gone);
        this.#recovered();
        this.#isSynced = true;
        this.#tellWaiting(undefined);
        return this.#sync.resolve();
    }
  }

  #tell(change: StoreChange, by: Writer | undefined): void {
    for (const listener of this.#listeners) {
      try {
        listener(change, by, !this.#isSynced);
      } catch (cause) {
        // Functions of users do not come to here. The same event would meet the same mistake again, for ever.
        const error = new InternalError(`Cannot watch ${this.kind.kind}: a change could not be taken in`, { cause });
        this.#broken ??= error;
        throw error;
      }
    }
  }

  /**
   * Of managedFields only what we applied is of use; the rest is most of an object's bytes. The object is fresh from the wire. Its metadata are made
   * anew: V8 holds an object from which a property was deleted as a hash table, which takes more than the property did.
   */
  readonly #trim = <Object extends KubeObject>(whole: Object): Object => {
    const { managedFields, ...rest } = whole.metadata;
    const kept = managedFields?.filter(this.#options.keepsFieldsOf) ?? [];
    const metadata = kept.length === 0 ? rest : { ...rest, managedFields: kept };
    // One string for all: each came with its own.
    const { apiVersion, kind } = this.kind;
    if (this.#options.metadataOnly) return { apiVersion, kind, metadata } as Object;
    return Object.assign(whole, { apiVersion, kind, metadata });
  };

  #tellWaiting(problem: Error | undefined): void {
    for (const wait of [...this.#waiting]) wait(problem);
  }

  /** Whether the cluster did not serve the kind when it was last asked. */
  get #isUnserved(): boolean {
    return isStatus(this.problem?.cause, 404);
  }

  #recovered(): void {
    this.#failures = 0;
    if (this.problem === undefined) return;
    const wasMissing = this.#isUnserved;
    this.problem = undefined;
    this.#options.onProblem(undefined);
    if (wasMissing && this.#isSynced) { for (const listener of this.#servedListeners) listener(); }
  }

  async #failed(error: unknown, signal: AbortSignal): Promise<void> {
    const { clock, random, onProblem } = this.#options;
    if (isStatus(error, 410)) {
      this.#take({ came: "expiry" });
      // Once is usual. Again with nothing in between: the server is not to be asked without a pause.
      if (++this.#failures > 1) await sleep(clock, backoff(this.#failures, { ...RETRY, spread: random() }), signal);
      return;
    }
    if (this.#state.at === "initial" && (isStatus(error, 400) || isStatus(error, 422))) {
      this.#take({ came: "refusal", isLasting: true });
      return;
    }
    // A server whose watch cache does not catch up with etcd says so after three seconds, for as long as that is so ("Too large resource version"). A paged
    // list it answers from etcd: client-go falls back to it as well.
    if (this.#state.at === "initial" && isStatus(error, 504)) {
      this.#take({ came: "refusal", isLasting: false });
      return;
    }
    this.#take({ came: "end" });
    this.restarts++;
    const problem = this.#explain(error);
    if (this.problem?.message !== problem.message) onProblem(problem);
    this.problem = problem;
    this.#tellWaiting(problem);
    await sleep(clock, backoff(++this.#failures, { ...RETRY, spread: random() }), signal);
  }

  #explain(error: unknown): Error {
    const { kind } = this;
    if (isStatus(error, 404)) {
      return new Error(
        `Cannot watch ${kind.kind}: the API server does not serve "${kind.plural}" of ${kind.apiVersion}. ${
          fixOf(kind)
        }`,
        { cause: error },
      );
    }
    if (isStatus(error, 403)) {
      return new Error(`${error.message}: give this user the verbs list and watch on "${kind.plural}"`, {
        cause: error,
      });
    }
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** What to do about a kind that is not served. The watch continues by itself once it is. */
function fixOf({ apiVersion, crd, external }: AnyKind): string {
  if (crd === undefined) return `Check that the cluster's version of Kubernetes has ${apiVersion}.`;
  const { name } = crd.metadata;
  return external
    ? `Install the project that its CustomResourceDefinition "${name}" belongs to; the watch starts once it is served.`
    : `Install its CustomResourceDefinition "${name}": run "op deploy", or apply the output of the operator's command "crds".`;
}
