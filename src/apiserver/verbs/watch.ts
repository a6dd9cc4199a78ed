/** Watches: an endless answer of one JSON line a change (`k8s.io/apiserver/pkg/storage/cacher`). */
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

/** A line of a watch. */
export interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: unknown;
}

/** What a watch is about. */
export interface WatchRequest {
  readonly kind: ServedKind;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly query: URLSearchParams;
  /** The event as it goes over the wire: a line of JSON, or a frame of protobuf. */
  readonly encode: (event: WatchEvent) => string | Uint8Array;
  readonly signal: AbortSignal;
}

/**
 * What can befall an open watch: its connection breaks, it stays open and says nothing more, or the server says that what it is at is forgotten
 * and ends it.
 */
export type Disturbance = "cut" | "silence" | "expire";

/** An open watch. */
interface OpenWatch {
  end(): void;
  disturb(how: Disturbance): void;
}

/** Open watches, by the signals of their requests. */
export class Watches {
  #open = new Map<AbortSignal, OpenWatch>();
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** How many are open. */
  get size(): number {
    return this.#open.size;
  }

  /** Ends all of them. */
  close(): void {
    for (const { end } of [...this.#open.values()]) end();
  }

  /**
   * Disturbs the watch that a request opened.
   *
   * @param signal The request's.
   * @param how What befalls it.
   * @returns Whether it was still open.
   */
  disturb(signal: AbortSignal, how: Disturbance): boolean {
    const watch = this.#open.get(signal);
    watch?.disturb(how);
    return watch !== undefined;
  }

  /** The signals of the requests whose watches are open. */
  get signals(): readonly AbortSignal[] {
    return [...this.#open.keys()];
  }

  /**
   * Opens a watch.
   *
   * @param request What it is about.
   * @returns The body of the answer. Cancelling it, or the request's signal, ends the watch.
   * @throws {StatusError} If the query is wrong.
   */
  open(request: WatchRequest): ReadableStream<Uint8Array> {
    const core = this.#core;
    const { kind, query, signal } = request;
    checkWatchOptions(query);
    const start = startOf(query);
    const isChosen = selection(kind, query, request.name);
    integer(query, "limit");
    const timeout = integer(query, "timeoutSeconds") || DEFAULT_TIMEOUT;
    if (kind.rules.convertAll !== undefined) {
      // What has to be converted is asked for before the watch is open.
      eachConverted(core.store.list(kind.collection, prefixOf(request.namespace)), kind.rules.read);
      begin(core, request, isChosen, () => {});
    }
    const encoder = new TextEncoder();
    const clockwork: Disposable[] = [];
    let end = () => {};
    let isSilent = false;
    /** What the reader was not ready for: it gets all of it at once. */
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
          core.happened();
          const line = request.encode(event);
          const bytes = typeof line === "string" ? encoder.encode(line) : line;
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(bytes);
          else pending.push(bytes);
        };
        end = () => {
          if (!this.#open.delete(signal)) return;
          for (const part of clockwork) part[Symbol.dispose]();
          signal.removeEventListener("abort", end);
          core.happened();
          try {
            flush(controller);
            controller.close();
          } catch {
            // Cancelled by the reader: closed already.
          }
        };
        const disturb = (how: Disturbance) => {
          if (how === "silence") return void (isSilent = true);
          if (how === "expire") {
            const { revision } = core.store;
            send({ type: "ERROR", object: expired(`too old resource version: ${start} (${revision})`).status });
            return end();
          }
          controller.error(new TypeError("connection reset by peer"));
          end();
        };
        this.#open.set(signal, { end: () => end(), disturb });
        signal.addEventListener("abort", end, { once: true });
        const refusal = begin(core, request, isChosen, send);
        if (refusal !== undefined) {
          send({ type: "ERROR", object: refusal.status });
          return end();
        }
        const prefix = prefixOf(request.namespace);
        clockwork.push(
          core.store.listen((change) => {
            if (isEndOf(kind, change)) return end();
            if (change.collection !== kind.collection || !change.key.startsWith(prefix)) return;
            // A watch may begin at a revision that is yet to come.
            if (change.revision <= start) return;
            try {
              const event = eventOf(kind, change, isChosen);
              if (event !== undefined) send(event);
            } catch (error) {
              if (!(error instanceof StatusError) && !(error instanceof ConversionNeeded)) throw error;
              // It cannot be shown in this version: whoever watches begins anew, and is told why.
              end();
            }
          }),
          core.clock.after(timeout * 1000, end),
        );
        if (isTrue(query.get("allowWatchBookmarks"))) clockwork.push(bookmarks(core, kind, send));
        if (signal.aborted) end();
      },
      pull: flush,
      cancel: () => end(),
    });
  }
}

/** Whether a change takes the definition of a kind away: the real server ends its watches within a second or two. */
function isEndOf({ isBuiltin, plural, group }: ServedKind, { collection, type, key }: Change): boolean {
  return !isBuiltin && collection === DEFINITIONS && type === "DELETED" && key === `${plural}.${group}`;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

// A server without a limit of its own draws one between half an hour and an hour; ours is the longest of these.
const DEFAULT_TIMEOUT = 3600;

// An idle stream of the real server has a bookmark a minute.
const BOOKMARK_INTERVAL = 60_000;

function bookmarks(core: Core, kind: ServedKind, send: (event: WatchEvent) => void): Disposable {
  let timer = core.clock.after(BOOKMARK_INTERVAL, ring);
  function ring(): void {
    send(bookmark(kind, core.store.revision));
    timer = core.clock.after(BOOKMARK_INTERVAL, ring);
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

/** Sends what is there already, as the query asks; answers a refusal where that cannot be. */
function begin(
  core: Core,
  request: WatchRequest,
  isChosen: Selection,
  send: (event: WatchEvent) => void,
): StatusError | undefined {
  const { kind, query, namespace } = request;
  const asksInitial = query.get("sendInitialEvents");
  const revision = startOf(query);
  const startsWithState = asksInitial === null ? revision === 0 : isTrue(asksInitial);
  if (startsWithState && revision > core.store.revision) return tooLarge(revision, core.store.revision);
  if (startsWithState) {
    const now = core.store.revision;
    for (const stored of core.store.list(kind.collection, prefixOf(namespace))) {
      const object = kind.rules.read(stored);
      if (isChosen(object)) send({ type: "ADDED", object });
    }
    if (asksInitial !== null && isTrue(query.get("allowWatchBookmarks"))) {
      send(bookmark(kind, now, { "k8s.io/initial-events-end": "true" }));
    }
    return undefined;
  }
  if (revision === 0) return undefined;
  try {
    for (const change of core.store.changesSince(revision, kind.collection)) {
      if (!change.key.startsWith(prefixOf(namespace))) continue;
      const event = eventOf(kind, change, isChosen);
      if (event !== undefined) send(event);
    }
    return undefined;
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error;
    return expired(`too old resource version: ${revision} (${error.oldest})`);
  }
}

/** The revision after which a watch begins. */
function startOf(query: URLSearchParams): number {
  const text = query.get("resourceVersion") || "0";
  return revisionOf(text, (message) => new StatusError(500, undefined, message));
}

/** What a change is to a watch that sees some of the objects only: one that comes into view is new to it, one that leaves it is gone. */
function eventOf(kind: ServedKind, change: Change, isChosen: Selection): WatchEvent | undefined {
  const object = kind.rules.read(change.object);
  const before = change.previous === undefined ? undefined : kind.rules.read(change.previous);
  const wasSeen = before !== undefined && isChosen(before);
  if (change.type === "DELETED") return wasSeen ? { type: "DELETED", object } : undefined;
  const isSeen = isChosen(object);
  if (isSeen) return { type: wasSeen ? "MODIFIED" : "ADDED", object };
  return wasSeen ? { type: "DELETED", object: at(before, change.revision) } : undefined;
}

/** What left the view, as it was seen at last, with the revision at which it left. */
function at(object: StoredObject, revision: number): StoredObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}

/** As `ValidateListOptions` of `k8s.io/apimachinery/pkg/apis/meta/internalversion/validation` does for watches. */
function checkWatchOptions(query: URLSearchParams): void {
  const match = query.get("resourceVersionMatch") ?? "";
  const field = "resourceVersionMatch";
  const faults: FieldError[] = [];
  const asksInitial = query.get("sendInitialEvents") !== null;
  if (asksInitial && match !== "NotOlderThan") {
    faults.push(forbidden(field, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  }
  if (match !== "") {
    if (!asksInitial) {
      faults.push(forbidden(field, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
    }
    if (match !== "NotOlderThan") faults.push(notSupported(field, match, ["NotOlderThan"]));
  }
  if (query.get("continue")) {
    faults.push(forbidden(field, "resourceVersionMatch is forbidden when continue is provided"));
  }
  if (faults.length > 0) throw invalid({ group: "meta.k8s.io", kind: "ListOptions" }, "", faults);
}
