/**
 * The caches of an operator: one watch per kind, selection and namespace, shared by all
 * controllers.
 */
import type { Clock } from "../base/clock.ts";
import { aborted, linked } from "../base/abort.ts";
import { isStatus } from "../kube/api_error.ts";
import type { Client } from "../kube/client.ts";
import type { AnyKind } from "../resource/kind.ts";
import { Informer } from "../watch/informer.ts";
import { InformerCache } from "../watch/informer_cache.ts";
import { type Selection, selectionKey } from "../watch/selection.ts";
import type { Logger } from "./logger.ts";
import type { WatchState } from "./metrics.ts";

/** Options of {@linkcode Informers}. */
export interface InformersOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  /** Name of the operator. The cache keeps the `managedFields` of its controllers. */
  readonly operator: string;
  /** The namespaces to watch. @default {all namespaces} */
  readonly namespaces: readonly string[] | undefined;
}

/** An informer and its lifetime. */
interface Entry {
  readonly informer: Informer;
  readonly namespace: string | undefined;
  readonly stop: AbortController;
  ended: Promise<void> | undefined;
}

/** The caches of an operator. */
export class Informers {
  readonly #options: InformersOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #caches = new Map<string, InformerCache>();
  /** Caches that {@linkcode of} returned. They are watched as long as the operator runs. */
  readonly #permanent = new Set<InformerCache>();
  /** Caches of single objects, and the number of their users. */
  readonly #holds = new Map<InformerCache, number>();
  #signal: AbortSignal | undefined;
  /** Rejects when a watch fails permanently. */
  readonly #failed = Promise.withResolvers<never>();

  constructor(options: InformersOptions) {
    this.#options = options;
  }

  /**
   * Returns the cache of a kind and selection. The first call creates it.
   *
   * @param kind The kind.
   * @param selection Selects its objects.
   */
  of(kind: AnyKind, selection: Selection = {}): InformerCache {
    const cache = this.#of(kind, selection);
    this.#permanent.add(cache);
    return cache;
  }

  #of(kind: AnyKind, selection: Selection): InformerCache {
    const identity = `${kind.apiVersion}/${kind.kind} ${selectionKey(selection)}`;
    let cache = this.#caches.get(identity);
    if (cache === undefined) this.#caches.set(identity, cache = this.#createCache(kind, selection));
    return cache;
  }

  /** Resolves when all caches are filled, except those of single objects. */
  async synced(): Promise<void> {
    await Promise.all([...this.#permanent].map(({ synced }) => synced));
  }

  /** Returns all watches. */
  all(): readonly Informer[] {
    return [...this.#entries.values()].map(({ informer }) => informer);
  }

  /** Returns the watches of single objects. */
  named(): readonly Informer[] {
    return [...this.#holds.keys()].flatMap(({ informers }) => informers);
  }

  /**
   * Returns the cache of one object. The object is watched until {@linkcode release} was called as
   * often as this method.
   *
   * @param kind The object's kind.
   * @param name Its name.
   * @param options Its namespace, and which parts of it are cached.
   */
  hold(
    kind: AnyKind,
    name: string,
    options: Pick<Selection, "metadataOnly" | "managedFields"> & { readonly namespace?: string | undefined },
  ): InformerCache {
    const { namespace, metadataOnly, managedFields } = options;
    const cache = this.#of(kind, {
      fieldSelector: `metadata.name=${name}`,
      metadataOnly,
      managedFields,
      ...(namespace === undefined ? {} : { namespaces: [namespace] }),
    });
    this.#holds.set(cache, (this.#holds.get(cache) ?? 0) + 1);
    return cache;
  }

  /** Releases a cache that {@linkcode hold} returned. */
  release(cache: InformerCache): void {
    const users = (this.#holds.get(cache) ?? 1) - 1;
    if (users > 0) return void this.#holds.set(cache, users);
    this.#holds.delete(cache);
    if (!this.#permanent.has(cache)) this.#stop(cache);
  }

  /** Ends the watches of an unused cache. */
  #stop(cache: InformerCache): void {
    for (const [identity, other] of this.#caches) if (other === cache) this.#caches.delete(identity);
    for (const [identity, { informer, stop }] of this.#entries) {
      if (!cache.informers.includes(informer)) continue;
      if ([...this.#caches.values()].some(({ informers }) => informers.includes(informer))) continue;
      this.#entries.delete(identity);
      stop.abort();
    }
  }

  /**
   * Watches until the signal is aborted. Caches that are created meanwhile are watched too.
   *
   * @throws {InternalError} If a watch fails permanently.
   */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    for (const entry of this.#entries.values()) this.#start(entry);
    await Promise.race([aborted(signal), this.#failed.promise]);
    await Promise.all([...this.#entries.values()].map(({ ended }) => ended));
  }

  /**
   * Returns the state of the watches for metrics. Watches of one kind and namespace are combined,
   * because labels must not contain names of objects.
   */
  states(): WatchState[] {
    const states = new Map<string, WatchState>();
    for (const state of this.#informerStates()) {
      const key = JSON.stringify([state.group, state.version, state.kind, state.namespace]);
      const before = states.get(key);
      states.set(key, before === undefined ? state : combined(before, state));
    }
    return [...states.values()];
  }

  #informerStates(): WatchState[] {
    return [...this.#entries.values()].map(({ informer, namespace = "" }) => {
      const { kind, store, staleness, restarts } = informer;
      const { group, version } = kind;
      const objects = store.size;
      return {
        group,
        version,
        kind: kind.kind,
        namespace,
        objects,
        bytes: bytesOf(informer),
        staleness: staleness / 1000,
        restarts,
      };
    });
  }

  #createCache(kind: AnyKind, selection: Selection): InformerCache {
    const namespaces = kind.namespaced ? selection.namespaces ?? this.#options.namespaces : undefined;
    const watched = namespaces ?? [undefined];
    return new InformerCache(
      kind,
      new Map(watched.map((namespace) => [namespace, this.#informer(kind, selection, namespace)])),
    );
  }

  #informer(kind: AnyKind, selection: Selection, namespace: string | undefined): Informer {
    const { namespaces: _, ...choice } = selection;
    const identity = `${kind.apiVersion}/${kind.kind} ${selectionKey(choice)} ${namespace ?? "*"}`;
    let entry = this.#entries.get(identity);
    if (entry === undefined) {
      const informer = this.#watch(kind, choice, namespace);
      this.#entries.set(identity, entry = { informer, namespace, stop: new AbortController(), ended: undefined });
      this.#start(entry);
    }
    return entry.informer;
  }

  #start(entry: Entry): void {
    if (this.#signal === undefined || entry.ended !== undefined) return;
    const ending = linked([this.#signal, entry.stop.signal]);
    entry.ended = entry.informer.run(ending.signal).catch(this.#failed.reject).finally(() => ending[Symbol.dispose]());
  }

  #watch(kind: AnyKind, choice: Selection, namespace: string | undefined): Informer {
    const { client, clock, random, operator } = this.#options;
    const log = this.#options.log.with({ kind: kind.kind, apiVersion: kind.apiVersion });
    const { labelSelector, fieldSelector, metadataOnly = false, managedFields = false } = choice;
    return new Informer(client, kind, {
      clock,
      random,
      metadataOnly,
      ...(namespace === undefined ? {} : { namespace }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
      keepsFieldsOf: ({ manager, operation }) =>
        managedFields || (operation === "Apply" && manager?.startsWith(`${operator}.`) === true),
      onProblem: (problem) => {
        if (problem === undefined) return log.info("Watch recovered");
        const isUnserved = isStatus(problem.cause, 404);
        log.warn(isUnserved ? "Waiting until the kind is served" : "Watch interrupted", { error: problem.message });
      },
    });
  }
}

function combined(one: WatchState, other: WatchState): WatchState {
  return {
    ...one,
    objects: one.objects + other.objects,
    bytes: one.bytes + other.bytes,
    staleness: Math.max(one.staleness, other.staleness),
    restarts: one.restarts + other.restarts,
  };
}

// Number of objects from which the size of a cache is estimated. Converting all objects to JSON for
// each scrape would be slow.
const SAMPLE = 50;

function bytesOf({ store }: Informer): number {
  let bytes = 0;
  let count = 0;
  for (const object of store.values()) {
    if (count === SAMPLE) break;
    bytes += JSON.stringify(object).length;
    count++;
  }
  return count === 0 ? 0 : Math.round(bytes / count * store.size);
}
