/** Sends request bodies within the windows of the server (RFC 9113, sections 5.2 and 6.9). */
import { ProtocolError } from "./errors.ts";
import { FLAG, FRAME, type FrameWriter, MAX_FRAME_SIZE } from "./frames.ts";
import type { Stream } from "./stream.ts";

/** Initial size of all windows, in bytes. */
export const INITIAL_WINDOW: number = 65_535;
/** Largest size of a window, in bytes. */
export const MAX_WINDOW: number = 2 ** 31 - 1;

/** The flow-control windows for the data that a client sends on one connection. */
export class SendWindows {
  readonly #out: FrameWriter;
  /** Bytes that all streams together may send. */
  #window = INITIAL_WINDOW;
  /** Bytes that a new stream may send. */
  initial: number = INITIAL_WINDOW;

  constructor(out: FrameWriter) {
    this.#out = out;
  }

  /** Writes as much of a request's body to the buffer as the windows allow. */
  send(stream: Stream): void {
    while (stream.unsent !== undefined) {
      const { unsent, id } = stream;
      // A stream's window is negative if the server reduced it below the number of bytes already
      // sent.
      const count = Math.max(0, Math.min(unsent.length, MAX_FRAME_SIZE, this.#window, stream.sendWindow));
      if (count === 0 && unsent.length > 0) return;
      const isEnd = count === unsent.length;
      this.#out.frame(FRAME.data, isEnd ? FLAG.end : 0, id, unsent.subarray(0, count));
      this.#window -= count;
      stream.sendWindow -= count;
      stream.unsent = isEnd ? undefined : unsent.subarray(count);
    }
  }

  /**
   * Changes the initial window of streams. The windows of open streams change by the same amount.
   *
   * @throws {ProtocolError} If a window becomes too large.
   */
  resize(initial: number, streams: Iterable<Stream>): void {
    checkWindow(initial);
    for (const stream of streams) checkWindow(stream.sendWindow += initial - this.initial);
    this.initial = initial;
  }

  /**
   * Enlarges the window of the connection.
   *
   * @throws {ProtocolError} If it becomes too large, or the increment is 0.
   */
  grow(increment: number): void {
    if (increment === 0) throw new ProtocolError("WINDOW_UPDATE has an increment of 0");
    checkWindow(this.#window += increment);
  }
}

function checkWindow(window: number): void {
  if (window > MAX_WINDOW) throw new ProtocolError(`a window is larger than ${MAX_WINDOW} bytes`);
}
