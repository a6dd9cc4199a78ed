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

/** An open watch. */
interface OpenWatch {
  end(): void;
  inject(fault: WatchFault): void;
}

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
    for (const { end } of [...this.#open.values()]) end();
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
    const { kind, query, signal } = request;
    checkWatchOptions(query);
    const start = startOf(query);
    const isSelected = selection(kind, query, request.name);
    integer(query, "limit");
    const timeout = integer(query, "timeoutSeconds") || DEFAULT_TIMEOUT;
    if (kind.rules.convertAll !== undefined) {
      // Runs all conversions before the watch opens, so that later reads find their results.
      eachConverted(core.store.list(kind.collection, prefixOf(request.namespace)), kind.rules.read);
      sendInitialEvents(core, request, isSelected, () => {});
    }
    const encoder = new TextEncoder();
    const resources: Disposable[] = [];
    let end = () => {};
    let isSilent = false;
    /** Events that the reader was not ready for, which it receives in one chunk. */
    let pending: Uint8Array[] = [];
    const flush = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      if (pending.length === 0) return;
      controller.enqueue(joined(pending));
      pending = [];
    };
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        const send = (event: WatchEvent) => {
          if (isSilent) return;
          core.countActivity();
          const line = request.encode(event);
          const bytes = typeof line === "string" ? encoder.encode(line) : line;
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(bytes);
          else pending.push(bytes);
        };
        end = () => {
          if (!this.#open.delete(signal)) return;
          for (const resource of resources) resource[Symbol.dispose]();
          signal.removeEventListener("abort", end);
          core.countActivity();
          try {
            flush(controller);
            controller.close();
          } catch {
            // The reader has cancelled, so the stream is closed already.
          }
        };
        const inject = (fault: WatchFault) => {
          if (fault === "silence") return void (isSilent = true);
          if (fault === "expire") {
            const { revision } = core.store;
            send({ type: "ERROR", object: expired(`too old resource version: ${start} (${revision})`).status });
            return end();
          }
          controller.error(new TypeError("connection reset by peer"));
          end();
        };
        this.#open.set(signal, { end: () => end(), inject });
        signal.addEventListener("abort", end, { once: true });
        const error = sendInitialEvents(core, request, isSelected, send);
        if (error !== undefined) {
          send({ type: "ERROR", object: error.status });
          return end();
        }
        const prefix = prefixOf(request.namespace);
        resources.push(
          core.store.listen((change) => {
            if (deletesDefinition(kind, change)) return end();
            if (change.collection !== kind.collection || !change.key.startsWith(prefix)) return;
            // A watch may start at a revision in the future.
            if (change.revision <= start) return;
            try {
              const event = eventOf(kind, change, isSelected);
              if (event !== undefined) send(event);
            } catch (error) {
              if (!(error instanceof StatusError) && !(error instanceof ConversionNeeded)) throw error;
              // The object cannot be converted to this version. The client starts a new watch, and
              // receives the error.
              end();
            }
          }),
          core.clock.after(timeout * 1000, end),
        );
        if (isTrue(query.get("allowWatchBookmarks"))) resources.push(bookmarks(core, kind, send));
        if (signal.aborted) end();
      },
      pull: flush,
      cancel: () => end(),
    });
  }
}

/**
 * Returns whether a change deletes the definition of a kind. The real server ends its watches
 * within two seconds.
 */
function deletesDefinition({ isBuiltin, plural, group }: ServedKind, { collection, type, key }: Change): boolean {
  return !isBuiltin && collection === DEFINITIONS && type === "DELETED" && key === `${plural}.${group}`;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

// Seconds. A real server selects a random timeout between 30 and 60 minutes; this is the longest.
const DEFAULT_TIMEOUT = 3600;

// Milliseconds. The real server sends a bookmark per minute on an idle watch.
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

/** Sends the initial events that the query asks for. Returns an error if they are not available. */
function sendInitialEvents(
  core: Core,
  request: WatchRequest,
  isSelected: Selection,
  send: (event: WatchEvent) => void,
): StatusError | undefined {
  const { kind, query, namespace } = request;
  const initialEvents = query.get("sendInitialEvents");
  const revision = startOf(query);
  const startsWithState = initialEvents === null ? revision === 0 : isTrue(initialEvents);
  if (startsWithState && revision > core.store.revision) return tooLarge(revision, core.store.revision);
  if (startsWithState) {
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
 * Returns the event of a change. To a watch with a selector, an object that starts to match is
 * added, and one that ceases to match is deleted.
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
  const faults: FieldError[] = [];
  const hasInitialEvents = query.get("sendInitialEvents") !== null;
  if (hasInitialEvents && match !== "NotOlderThan") {
    faults.push(forbidden(field, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  }
  if (match !== "") {
    if (!hasInitialEvents) {
      faults.push(forbidden(field, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
    }
    if (match !== "NotOlderThan") faults.push(notSupported(field, match, ["NotOlderThan"]));
  }
  if (query.get("continue")) {
    faults.push(forbidden(field, "resourceVersionMatch is forbidden when continue is provided"));
  }
  if (faults.length > 0) throw invalid({ group: "meta.k8s.io", kind: "ListOptions" }, "", faults);
}
