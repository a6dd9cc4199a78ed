/**
 * Detects a stream that has stalled: it is open, but receives no events.
 *
 * A server sends the first bookmark of an idle stream after at most two minutes (measured: 121 s),
 * and then one per minute. So after the second bookmark, a stream that is silent for 75 s has
 * stalled. Before that, silence is not conclusive, and the stream is probed: a second, short watch
 * starts at the same version. If it returns an event that the stream does not, the stream has
 * stalled. A list would show the same, but its cost grows with the number of objects.
 */
import type { Clock } from "../base/clock.ts";
import { type Linked, linked } from "../base/abort.ts";
import type { WatchEvent } from "../kube/calls.ts";

// In milliseconds.
const MAX_SILENCE = { first: 135_000, later: 75_000 };
const PROBE_AFTER = 30_000;

/** Number of bookmarks after which the server sends one per minute. */
const REGULAR_BOOKMARKS = 2;

/** Options of {@linkcode StreamMonitor}. */
export interface StreamMonitorOptions {
  readonly clock: Clock;
  /** Aborts the stream. */
  readonly signal: AbortSignal;
  /** Name of the watched kind, for errors. */
  readonly kind: string;
  /** Returns whether the stream missed an event. If it rejects, the stream continues. */
  readonly probe: (signal: AbortSignal) => Promise<boolean>;
}

/** Monitors a stream until it is disposed of. Aborts its signal when the stream has stalled. */
export class StreamMonitor implements Disposable {
  readonly #options: StreamMonitorOptions;
  readonly #stream: Linked;
  /** Number of bookmarks, up to {@linkcode REGULAR_BOOKMARKS}. */
  #bookmarks = 0;
  /** When events were last received, by the clock's `elapsed`. */
  #lastReceived: number;
  #lastProbe: number;
  #isOpen = false;
  #isDisposed = false;
  #timer: Disposable;

  constructor(options: StreamMonitorOptions) {
    const { clock, signal } = options;
    this.#options = options;
    this.#stream = linked([signal]);
    this.#lastReceived = this.#lastProbe = clock.elapsed();
    this.#timer = clock.after(MAX_SILENCE.first, this.#check);
  }

  /** Aborted when the stream has stalled, or by the signal of the options. */
  get signal(): AbortSignal {
    return this.#stream.signal;
  }

  /** Reports that the server has accepted the watch. Probes are possible from now on. */
  opened(): void {
    this.#isOpen = true;
    this.#lastReceived = this.#lastProbe = this.#options.clock.elapsed();
    this.#restartTimer(PROBE_AFTER);
  }

  /** Reports received events. */
  received(batch: readonly WatchEvent[]): void {
    this.#lastReceived = this.#options.clock.elapsed();
    if (this.#hasRegularBookmarks || !batch.some(({ type }) => type === "BOOKMARK")) return;
    this.#bookmarks++;
    if (this.#hasRegularBookmarks) this.#restartTimer(MAX_SILENCE.later);
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#timer[Symbol.dispose]();
    this.#stream[Symbol.dispose]();
  }

  get #hasRegularBookmarks(): boolean {
    return this.#bookmarks >= REGULAR_BOOKMARKS;
  }

  #restartTimer(delay: number): void {
    this.#timer[Symbol.dispose]();
    this.#timer = this.#options.clock.after(delay, this.#check);
  }

  readonly #check = (): void => {
    const now = this.#options.clock.elapsed();
    const limit = this.#hasRegularBookmarks ? MAX_SILENCE.later : MAX_SILENCE.first;
    if (now - this.#lastReceived >= limit) return this.#abort(`no event for ${limit / 1000} s`);
    let next = this.#lastReceived + limit;
    if (this.#isOpen && !this.#hasRegularBookmarks) {
      if (now >= this.#nextProbe) this.#probe(now);
      next = Math.min(next, this.#nextProbe);
    }
    this.#restartTimer(Math.max(next - now, 1));
  };

  get #nextProbe(): number {
    return Math.max(this.#lastReceived, this.#lastProbe) + PROBE_AFTER;
  }

  #probe(now: number): void {
    this.#lastProbe = now;
    this.#options.probe(this.signal).then(
      (isStalled) => isStalled && this.#abort("the stream has stalled: another watch received newer events"),
      () => undefined,
    );
  }

  #abort(reason: string): void {
    if (!this.#isDisposed) this.#stream.abort(new Error(`Cannot watch ${this.#options.kind}: ${reason}`));
  }
}
