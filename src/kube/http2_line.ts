/** Requests that wait until a server takes more at once. None of them was sent. */
import type { Asking } from "./http2_asking.ts";

/** A request that waits. */
export interface Waiting {
  readonly asking: Asking;
  /** Its turn has come. */
  readonly begin: () => void;
  readonly reject: (error: unknown) => void;
}

/** The line. A request leaves it when its signal is aborted. */
export class Line {
  #waiting: (Waiting & { readonly onAbort: () => void })[] = [];

  get length(): number {
    return this.#waiting.length;
  }

  /** How many of them wait for an answer that is read as it comes. */
  get streaming(): number {
    return this.#waiting.filter(({ asking }) => asking.streams).length;
  }

  /** Those that may not wait stand in front. */
  add(waiting: Waiting): void {
    const { signal, isUrgent } = waiting.asking;
    const onAbort = (): void => {
      this.#waiting = this.#waiting.filter((other) => other !== entry);
      waiting.reject(signal!.reason);
    };
    const entry = { ...waiting, onAbort };
    signal?.addEventListener("abort", onAbort, { once: true });
    if (isUrgent) this.#waiting.unshift(entry);
    else this.#waiting.push(entry);
  }

  /** Whether the first of them may not wait. */
  get isUrgent(): boolean {
    return this.#waiting[0]?.asking.isUrgent === true;
  }

  /** Takes the first out of the line. */
  next(): Waiting | undefined {
    const entry = this.#waiting.shift();
    entry?.asking.signal?.removeEventListener("abort", entry.onAbort);
    return entry;
  }
}
