/** Watches: responses that stream one event per change (`k8s.io/apiserver/pkg/storage/cacher`). */
import { type FieldError, forbidden, notSupported } from "../../schema/field_error.ts";
import type { Core } from "../core/core.ts";
import { DEFINITIONS, type ServedKind } from "../objects/kinds.ts";
import type { StoredObject } from "../objects/objects.ts";
import { isTrue } from "../objects/options.ts";
import { type Change, CompactedError } from "../objects/store.ts";
import { ConversionNeeded, eachConverted } from "../webhooks/conversion.ts";
import { expired, invalid, StatusError } from "../wire/status_error.ts";
import { integer, prefixOf, revisionOf, selection, tooLarge } from "./read.ts";
import type { Selection } from "./selectors.ts";
import { concatenate } from "../wire/body.ts";

/** An event of a watch. */
export interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: unknown;
}

/** Parameters of a watch. */
export interface WatchRequest {
  readonly kind: ServedKind;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly query: URLSearchParams;
  /** Encodes an event: as a line of JSON, or as a frame of protobuf. */
  readonly encode: (event: WatchEvent) => string | Uint8Array;
  readonly signal: AbortSignal;
}

/**
 * A fault to inject into an open watch: its connection breaks (`cut`), it stays open without
 * further events (`silence`), or the server ends it because its resourceVersion is no longer
 * available (`expire`).
 */
export type WatchFault = "cut" | "silence" | "expire";

/** Open watches by the signals of their requests. */
export class Watches {
  #open = new Map<AbortSignal, OpenWatch>();
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Number of open watches. */
  get size(): number {
    return this.#open.size;
  }

  /** Ends all watches. */
  close(): void {
    for (const watch of [...this.#open.values()]) watch.end();
  }

  /**
   * Injects a fault into the watch that a request opened.
   *
   * @param signal Signal of the request.
   * @param fault The fault.
   * @returns Whether the watch was open.
   */
  inject(signal: AbortSignal, fault: WatchFault): boolean {
    const watch = this.#open.get(signal);
    watch?.inject(fault);
    return watch !== undefined;
  }

  /** Signals of the requests whose watches are open. */
  get signals(): readonly AbortSignal[] {
    return [...this.#open.keys()];
  }

  /**
   * Opens a watch.
   *
   * @param request Parameters of the watch.
   * @returns The body of the response. Cancelling it, or aborting the request's signal, ends the
   * watch.
   * @throws {StatusError} If the query is invalid.
   */
  open(request: WatchRequest): ReadableStream<Uint8Array> {
    const core = this.#core;
    const { kind, namespace, name, query, signal } = request;
    checkWatchOptions(query);
    const start = startOf(query);
    const isSelected = selection(kind, query, name);
    integer(query, "limit");
    const timeout = integer(query, "timeoutSeconds") || DEFAULT_TIMEOUT;
    if (kind.rules.convertAll !== undefined) {
      // Converts all objects before the watch opens, so that later reads find the results in the
      // cache.
      eachConverted(core.store.list(kind.collection, prefixOf(namespace)), kind.rules.read);
      sendInitialEvents(core, request, isSelected, () => {});
    }
    const onEnd = () => this.#open.delete(signal);
    const watch = new OpenWatch(core, request, { start, timeout, isSelected, onEnd });
    this.#open.set(signal, watch);
    return new ReadableStream<Uint8Array>({
      start: (controller) => watch.begin(controller),
      pull: () => watch.flush(),
      cancel: () => watch.end(),
    });
  }
}

/** Options of {@linkcode OpenWatch}. */
interface OpenWatchOptions {
  /** Revision after which the watch starts. */
  readonly start: number;
  /** Duration in seconds. */
  readonly timeout: number;
  readonly isSelected: Selection;
  /** Called when the watch ends; returns whether it was open. */
  readonly onEnd: () => boolean;
}

const ENCODER = new TextEncoder();

/** An open watch, which sends the changes of the store to a stream. */
class OpenWatch {
  readonly #core: Core;
  readonly #request: WatchRequest;
  readonly #options: OpenWatchOptions;
  /** The stream. Set when the watch begins. */
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  /** The store listener and the timers, which are disposed of when the watch ends. */
  readonly #resources: Disposable[] = [];
  /** Events that wait until the reader is ready. It then receives them in one chunk. */
  #pending: Uint8Array[] = [];
  /** Whether the fault `silence` was injected. */
  #isSilent = false;
  readonly #onAbort = () => this.end();

  constructor(core: Core, request: WatchRequest, options: OpenWatchOptions) {
    this.#core = core;
    this.#request = request;
    this.#options = options;
  }

  /** Sends the initial events, and starts to follow the store. */
  begin(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
    const { kind, query, signal } = this.#request;
    const send = (event: WatchEvent) => this.#send(event);
    signal.addEventListener("abort", this.#onAbort, { once: true });
    const error = sendInitialEvents(this.#core, this.#request, this.#options.isSelected, send);
    if (error !== undefined) {
      send({ type: "ERROR", object: error.status });
      return this.end();
    }
    const prefix = prefixOf(this.#request.namespace);
    this.#resources.push(
      this.#core.store.listen((change) => this.#onChange(change, prefix)),
      this.#core.clock.after(this.#options.timeout * 1000, () => this.end()),
    );
    if (isTrue(query.get("allowWatchBookmarks"))) this.#resources.push(bookmarks(this.#core, kind, send));
    if (signal.aborted) this.end();
  }

  /** Ends the watch. Calling it again has no effect. */
  end(): void {
    if (!this.#options.onEnd()) return;
    for (const resource of this.#resources) resource[Symbol.dispose]();
    this.#request.signal.removeEventListener("abort", this.#onAbort);
    this.#core.countActivity();
    try {
      this.flush();
      this.#controller.close();
    } catch {
      // The reader has cancelled, so the stream is closed already.
    }
  }

  /** Injects a fault. */
  inject(fault: WatchFault): void {
    if (fault === "silence") return void (this.#isSilent = true);
    if (fault === "expire") {
      const reason = `too old resource version: ${this.#options.start} (${this.#core.store.revision})`;
      this.#send({ type: "ERROR", object: expired(reason).status });
      return this.end();
    }
    this.#controller.error(new TypeError("connection reset by peer"));
    this.end();
  }

  /** Sends the pending events. */
  flush(): void {
    if (this.#pending.length === 0) return;
    this.#controller.enqueue(concatenate(this.#pending));
    this.#pending = [];
  }

  #onChange(change: Change, prefix: string): void {
    const { kind } = this.#request;
    if (deletesDefinition(kind, change)) return this.end();
    if (change.collection !== kind.collection || !change.key.startsWith(prefix)) return;
    // The start revision may be in the future. Changes up to it are skipped.
    if (change.revision <= this.#options.start) return;
    try {
      const event = eventOf(kind, change, this.#options.isSelected);
      if (event !== undefined) this.#send(event);
    } catch (error) {
      if (!(error instanceof StatusError) && !(error instanceof ConversionNeeded)) throw error;
      // The object cannot be converted to this version. The client starts a new watch, and receives
      // the error.
      this.end();
    }
  }

  #send(event: WatchEvent): void {
    if (this.#isSilent) return;
    this.#core.countActivity();
    const line = this.#request.encode(event);
    const bytes = typeof line === "string" ? ENCODER.encode(line) : line;
    if ((this.#controller.desiredSize ?? 0) > 0) this.#controller.enqueue(bytes);
    else this.#pending.push(bytes);
  }
}

/**
 * Returns whether a change deletes the definition of a kind, which ends the watches of the kind. In
 * the real server, this takes up to two seconds.
 */
function deletesDefinition({ isBuiltin, plural, group }: ServedKind, { collection, type, key }: Change): boolean {
  return !isBuiltin && collection === DEFINITIONS && type === "DELETED" && key === `${plural}.${group}`;
}

// In seconds. The real server selects a random timeout between 30 and 60 minutes; this is the
// longest one.
const DEFAULT_TIMEOUT = 3600;

// In milliseconds. The real server sends a bookmark per minute on an idle watch.
const BOOKMARK_INTERVAL = 60_000;

function bookmarks(core: Core, kind: ServedKind, send: (event: WatchEvent) => void): Disposable {
  let timer = core.clock.after(BOOKMARK_INTERVAL, onInterval);
  function onInterval(): void {
    send(bookmark(kind, core.store.revision));
    timer = core.clock.after(BOOKMARK_INTERVAL, onInterval);
  }
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}

function bookmark(kind: ServedKind, revision: number, annotations?: Record<string, string>): WatchEvent {
  return {
    type: "BOOKMARK",
    object: {
      kind: kind.kind,
      apiVersion: kind.apiVersion,
      metadata: {
        resourceVersion: String(revision),
        ...(annotations && { annotations }),
      },
    },
  };
}

/**
 * Sends the initial events that the query requests. Returns an error if they are no longer
 * available.
 */
function sendInitialEvents(
  core: Core,
  request: WatchRequest,
  isSelected: Selection,
  send: (event: WatchEvent) => void,
): StatusError | undefined {
  const { kind, query, namespace } = request;
  const initialEvents = query.get("sendInitialEvents");
  const revision = startOf(query);
  const hasInitialObjects = initialEvents === null ? revision === 0 : isTrue(initialEvents);
  if (hasInitialObjects && revision > core.store.revision) return tooLarge(revision, core.store.revision);
  if (hasInitialObjects) {
    const now = core.store.revision;
    for (const stored of core.store.list(kind.collection, prefixOf(namespace))) {
      const object = kind.rules.read(stored);
      if (isSelected(object)) send({ type: "ADDED", object });
    }
    if (initialEvents !== null && isTrue(query.get("allowWatchBookmarks"))) {
      send(bookmark(kind, now, { "k8s.io/initial-events-end": "true" }));
    }
    return undefined;
  }
  if (revision === 0) return undefined;
  try {
    for (const change of core.store.changesSince(revision, kind.collection)) {
      if (!change.key.startsWith(prefixOf(namespace))) continue;
      const event = eventOf(kind, change, isSelected);
      if (event !== undefined) send(event);
    }
    return undefined;
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error;
    return expired(`too old resource version: ${revision} (${error.oldest})`);
  }
}

/** Returns the revision after which a watch starts. */
function startOf(query: URLSearchParams): number {
  const text = query.get("resourceVersion") || "0";
  return revisionOf(text, (message) => new StatusError(500, undefined, message));
}

/**
 * Returns the event of a change; `undefined` if the watch does not select the object. If a change
 * makes an object match the selector, the event is ADDED; if the object no longer matches, the
 * event is DELETED.
 */
function eventOf(kind: ServedKind, change: Change, isSelected: Selection): WatchEvent | undefined {
  const object = kind.rules.read(change.object);
  const before = change.previous === undefined ? undefined : kind.rules.read(change.previous);
  const matched = before !== undefined && isSelected(before);
  if (change.type === "DELETED") return matched ? { type: "DELETED", object } : undefined;
  if (isSelected(object)) return { type: matched ? "MODIFIED" : "ADDED", object };
  return matched ? { type: "DELETED", object: atRevision(before, change.revision) } : undefined;
}

/** Returns the last matching state of an object, with the revision at which it ceased to match. */
function atRevision(object: StoredObject, revision: number): StoredObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}

/**
 * Validates the options of a watch (`ValidateListOptions` of
 * `k8s.io/apimachinery/pkg/apis/meta/internalversion/validation`).
 */
function checkWatchOptions(query: URLSearchParams): void {
  const match = query.get("resourceVersionMatch") ?? "";
  const field = "resourceVersionMatch";
  const errors: FieldError[] = [];
  const hasInitialEvents = query.get("sendInitialEvents") !== null;
  if (hasInitialEvents && match !== "NotOlderThan") {
    errors.push(forbidden(field, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  }
  if (match !== "") {
    if (!hasInitialEvents) {
      errors.push(forbidden(field, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
    }
    if (match !== "NotOlderThan") errors.push(notSupported(field, match, ["NotOlderThan"]));
  }
  if (query.get("continue")) {
    errors.push(forbidden(field, "resourceVersionMatch is forbidden when continue is provided"));
  }
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", kind: "ListOptions" }, "", errors);
}
