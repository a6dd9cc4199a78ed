/**
 * Detects a stream that has stalled: it is open, but receives no events.
 *
 * A server sends the first bookmark of an idle stream after at most two minutes (measured: 121 s),
 * and then one per minute. So after the second bookmark, a stream that is silent for 75 s has
 * stalled. Before that, silence is not conclusive, and the stream is probed: a second, short watch
 * starts at the same version. If it returns an event that the stream does not, the stream has
 * stalled. A list would show the same, but the cost of a probe does not grow with the number of
 * objects.
 */
import type { Clock } from "../base/clock.ts";
import { type Linked, linked } from "../base/abort.ts";
import type { WatchEvent } from "../kube/calls.ts";

// In milliseconds.
const MAX_SILENCE = { first: 135_000, later: 75_000 };
const PROBE_AFTER = 30_000;

/** Options of {@linkcode listenForSilence}. */
export interface SilenceOptions {
  readonly clock: Clock;
  /** Aborts the stream. */
  readonly signal: AbortSignal;
  /** The watched kind, for errors. */
  readonly what: string;
  /** Returns whether the stream missed an event. If it rejects, the stream continues. */
  readonly probe: (signal: AbortSignal) => Promise<boolean>;
}

/** A monitored stream. Its signal is aborted when the stream has stalled. */
export interface Silence extends Linked {
  /** Reports that the server has accepted the watch. Probes are possible from now on. */
  opened(): void;
  /** Reports received events. */
  received(batch: readonly WatchEvent[]): void;
}

/** Monitors a stream until it is disposed of. */
export function listenForSilence({ clock, signal, what, probe }: SilenceOptions): Silence {
  const stream = linked([signal]);
  let bookmarks = 0;
  let lastReceived = clock.elapsed();
  let lastProbe = lastReceived;
  let isDisposed = false;
  let isOpen = false;
  let timer = clock.after(MAX_SILENCE.first, check);

  function check(): void {
    const now = clock.elapsed();
    const limit = bookmarks < 2 ? MAX_SILENCE.first : MAX_SILENCE.later;
    if (now - lastReceived >= limit) return abort(`no event for ${limit / 1000} s`);
    const mayProbe = isOpen && bookmarks < 2;
    if (mayProbe && now - Math.max(lastReceived, lastProbe) >= PROBE_AFTER) {
      lastProbe = now;
      probe(stream.signal).then(
        (isStalled) => isStalled && abort("the stream has stalled: another watch received newer events"),
        () => undefined,
      );
    }
    const next = mayProbe
      ? Math.min(lastReceived + limit, Math.max(lastReceived, lastProbe) + PROBE_AFTER)
      : lastReceived + limit;
    timer = clock.after(Math.max(next - now, 1), check);
  }

  function abort(why: string): void {
    if (!isDisposed) stream.abort(new Error(`Cannot watch ${what}: ${why}`));
  }

  return {
    signal: stream.signal,
    abort: stream.abort,
    opened() {
      isOpen = true;
      lastReceived = lastProbe = clock.elapsed();
      timer[Symbol.dispose]();
      timer = clock.after(PROBE_AFTER, check);
    },
    received(batch) {
      lastReceived = clock.elapsed();
      if (bookmarks >= 2 || !batch.some(({ type }) => type === "BOOKMARK")) return;
      bookmarks++;
      if (bookmarks < 2) return;
      // From now on the server sends a bookmark every minute.
      timer[Symbol.dispose]();
      timer = clock.after(MAX_SILENCE.later, check);
    },
    [Symbol.dispose]() {
      isDisposed = true;
      timer[Symbol.dispose]();
      stream[Symbol.dispose]();
    },
  };
}
