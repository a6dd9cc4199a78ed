/**
 * Decides which request may open a stream. A server limits the streams that are open at once
 * (SETTINGS_MAX_CONCURRENT_STREAMS); requests beyond the limit wait.
 */
import type { Http2Request } from "./stream.ts";

/** Streams that are reserved for urgent requests. */
const URGENT_STREAMS = 2;
// Watches are long-lived, so they may use at most 60 % of the streams; the rest is for requests.
const WATCH_SHARE = 0.6;

/**
 * Returns whether one more request may open a stream.
 *
 * @param limit Streams that the server allows at once.
 * @param open Streams that are open.
 * @param isUrgent Whether the request may use the reserved streams, as the liveness probe does.
 */
export function mayOpen(limit: number, open: number, isUrgent: boolean): boolean {
  return open < (isUrgent ? limit : Math.max(Math.min(1, limit), limit - URGENT_STREAMS));
}

/**
 * Returns whether one more watch may use the connection.
 *
 * @param limit Streams that the server allows at once.
 * @param watches Watches that are open or waiting.
 * @param isForWatches Whether the connection is only for watches. Then one is always allowed,
 * however low the limit is.
 */
export function mayWatch(limit: number, watches: number, isForWatches: boolean): boolean {
  return watches <
    Math.max(isForWatches ? 1 : 0, Math.min(Math.floor(limit * WATCH_SHARE), limit - URGENT_STREAMS - 1));
}

/** A request that waits. It has not been sent. */
export interface QueuedRequest {
  readonly request: Http2Request;
  /** Called when the request may be sent. */
  readonly begin: () => void;
  readonly reject: (error: unknown) => void;
}

/** Requests that wait for a stream. A request leaves the queue when its signal is aborted. */
export class RequestQueue {
  #queued: (QueuedRequest & { readonly onAbort: () => void })[] = [];

  get length(): number {
    return this.#queued.length;
  }

  /** Number of queued watches. */
  get watches(): number {
    return this.#queued.filter(({ request }) => request.streams).length;
  }

  /** Whether the first request of the queue is urgent. */
  get isUrgent(): boolean {
    return this.#queued[0]?.request.isUrgent === true;
  }

  /** Adds a request: at the front if it is urgent, otherwise at the end. */
  add(queued: QueuedRequest): void {
    const { signal, isUrgent } = queued.request;
    const onAbort = (): void => {
      this.#queued = this.#queued.filter((other) => other !== entry);
      queued.reject(signal!.reason);
    };
    const entry = { ...queued, onAbort };
    signal?.addEventListener("abort", onAbort, { once: true });
    if (isUrgent) this.#queued.unshift(entry);
    else this.#queued.push(entry);
  }

  /** Removes and returns the first request. */
  next(): QueuedRequest | undefined {
    const entry = this.#queued.shift();
    entry?.request.signal?.removeEventListener("abort", entry.onAbort);
    return entry;
  }
}
