/** Bodies of requests over an HTTP/2 connection: each is sent as far as the server takes it (RFC 9113, 5.2 and 6.9). */
import { FLAG, FRAME, type FrameWriter, LONGEST_FRAME } from "./http2_frames.ts";
import type { Stream } from "./http2_stream.ts";

/** The window that both sides have without a word. */
export const FIRST_WINDOW: number = 65_535;
/** No window is larger. */
export const LARGEST_WINDOW: number = 2 ** 31 - 1;

/** The windows of one connection. */
export class Uploads {
  readonly #out: FrameWriter;
  /** What all streams together may send. */
  #window = FIRST_WINDOW;
  /** What each stream may send at first. */
  first: number = FIRST_WINDOW;

  constructor(out: FrameWriter) {
    this.#out = out;
  }

  /** Sends as much of a body as the server takes. */
  send(stream: Stream): void {
    while (stream.unsent !== undefined) {
      const { unsent, id } = stream;
      // A window is below nothing where the server made it smaller behind what was sent.
      const count = Math.max(0, Math.min(unsent.length, LONGEST_FRAME, this.#window, stream.window));
      if (count === 0 && unsent.length > 0) return;
      const isEnd = count === unsent.length;
      this.#out.frame(FRAME.data, isEnd ? FLAG.end : 0, id, unsent.subarray(0, count));
      this.#window -= count;
      stream.window -= count;
      stream.unsent = isEnd ? undefined : unsent.subarray(count);
    }
  }

  /** The server changes what each stream may send at first, and by as much what those that go on may send. */
  resize(first: number, streams: Iterable<Stream>): void {
    refuseLarge(first);
    for (const stream of streams) refuseLarge(stream.window += first - this.first);
    this.first = first;
  }

  /** All streams together may send more. */
  grow(more: number): void {
    if (more === 0) throw new RangeError("a window grows by nothing");
    refuseLarge(this.#window += more);
  }
}

function refuseLarge(window: number): void {
  if (window > LARGEST_WINDOW) throw new RangeError("a window is too large");
}
