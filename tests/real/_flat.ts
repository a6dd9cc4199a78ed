/** A watch's events one by one. */
import assert from "node:assert/strict";
import type { WatchEvent } from "../../src/kube/calls.ts";

/** Events of a watch that goes on. */
export interface Events extends AsyncDisposable {
  /** The next event. Fails when the watch has ended. */
  next(): Promise<WatchEvent>;
}

/**
 * Takes a watch's batches apart.
 *
 * @param batches The watch.
 * @param stop Ends it.
 */
export function flat(batches: AsyncGenerator<WatchEvent[], void>, stop: AbortController): Events {
  const held: WatchEvent[] = [];
  return {
    async next() {
      while (held.length === 0) {
        const { value } = await batches.next();
        assert(value, "the watch has ended");
        held.push(...value);
      }
      return held.shift()!;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await batches.return();
    },
  };
}
