/**
 * Finds a stream on which nothing comes any more, though nobody closed it.
 *
 * A server sends the first bookmark of an idle stream after two minutes at most (measured: 121 s) and then one a minute. So from the second bookmark on
 * what is silent for longer than that and a quarter of a minute has stalled. Before that a silence says little, and a glance is taken: a second, short
 * watch from where the stream is. When it brings something and the stream does not, the stream has stalled. A list would tell the same of a kind of which
 * little is there; of 20,000 objects a glance costs as little as of one.
 */
import type { Clock } from "../base/clock.ts";
import { type Linked, linked } from "../base/abort.ts";
import type { WatchEvent } from "../kube/calls.ts";

const LONGEST = { first: 135_000, later: 75_000 };
const GLANCE_AFTER = 30_000;

/** Options of {@linkcode listenForSilence}. */
export interface SilenceOptions {
  readonly clock: Clock;
  /** Ends the stream. */
  readonly signal: AbortSignal;
  /** What is watched, for errors. */
  readonly what: string;
  /** Looks whether there is something that the stream did not bring. It may fail: that says nothing. */
  readonly glance: (signal: AbortSignal) => Promise<boolean>;
}

/** A stream that is listened to. Its signal is aborted when nothing comes on it any more. */
export interface Silence extends Linked {
  /** The server has opened it: glances say something from here on. */
  opened(): void;
  /** Something came. */
  heard(batch: readonly WatchEvent[]): void;
}

/** Listens to a stream. */
export function listenForSilence({ clock, signal, what, glance }: SilenceOptions): Silence {
  const stream = linked([signal]);
  let bookmarks = 0;
  let since = clock.elapsed();
  let glanced = since;
  let isOver = false;
  let isOpen = false;
  let timer = clock.after(LONGEST.first, look);

  function look(): void {
    const now = clock.elapsed();
    const patience = bookmarks < 2 ? LONGEST.first : LONGEST.later;
    if (now - since >= patience) return stalled(`nothing came for ${patience / 1000} s`);
    const isEarly = isOpen && bookmarks < 2;
    if (isEarly && now - Math.max(since, glanced) >= GLANCE_AFTER) {
      glanced = now;
      glance(stream.signal).then(
        (isMissed) => isMissed && stalled("the stream stands still: another one brings what it does not"),
        () => undefined,
      );
    }
    const next = isEarly ? Math.min(since + patience, Math.max(since, glanced) + GLANCE_AFTER) : since + patience;
    timer = clock.after(Math.max(next - now, 1), look);
  }

  function stalled(why: string): void {
    if (!isOver) stream.abort(new Error(`Cannot watch ${what}: ${why}`));
  }

  return {
    signal: stream.signal,
    abort: stream.abort,
    opened() {
      isOpen = true;
      since = glanced = clock.elapsed();
      timer[Symbol.dispose]();
      timer = clock.after(GLANCE_AFTER, look);
    },
    heard(batch) {
      since = clock.elapsed();
      if (bookmarks >= 2 || !batch.some(({ type }) => type === "BOOKMARK")) return;
      bookmarks++;
      if (bookmarks < 2) return;
      // From here on the server says something once a minute.
      timer[Symbol.dispose]();
      timer = clock.after(LONGEST.later, look);
    },
    [Symbol.dispose]() {
      isOver = true;
      timer[Symbol.dispose]();
      stream[Symbol.dispose]();
    },
  };
}
