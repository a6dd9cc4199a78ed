/** Sends and receives the frames of one connection, for all its streams. */
import { ProtocolError } from "./errors.ts";
import {
  contentOf,
  FLAG,
  FRAME,
  type Frame,
  FrameReader,
  FrameWriter,
  PayloadBuffer,
  rejectInvalidFrame,
} from "./frames.ts";

const PREFACE = new TextEncoder().encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
/** Longest header block, in bytes. An API server sends a few hundred. */
export const MAX_HEADER_BLOCK: number = 1 << 20;
/** Minimum bytes counted per CONTINUATION frame, so that endless empty frames reach the limit. */
const MIN_PART = 64;
/**
 * Maximum number of unsent acknowledgments, as in Go's server (`golang.org/x/net/http2`,
 * maxQueuedControlFrames).
 */
const MAX_UNSENT_ACKS = 10_000;
const EMPTY = new Uint8Array();

/** A byte stream in both directions: a TLS connection, or a test's replacement. */
export interface Duplex {
  read(into: Uint8Array): Promise<number | null>;
  write(bytes: Uint8Array): Promise<number>;
  close(): void;
}

/**
 * Receives the frames of a connection. Any error that a method throws ends the connection; it is a
 * {@linkcode ProtocolError} if the server violated HTTP/2.
 */
export interface FrameHandler {
  /** The stream that is opened next. */
  readonly nextStream: number;
  /** Called when bytes were received. */
  onBytes(): void;
  /** Called with each complete header block. */
  onHeaders(stream: number, isEnd: boolean, block: Uint8Array): void;
  /** Called with each DATA, RST_STREAM, SETTINGS, GOAWAY and WINDOW_UPDATE frame. */
  onFrame(frame: Frame): void;
  /** Called right before all buffered frames are sent. */
  onSend(): void;
  /** Called with the error that ended the connection. */
  onLost(error: unknown): void;
}

/** The frames of one connection. */
export class Framing {
  /** Frames to send with the next {@linkcode Framing.flush}. */
  readonly out: FrameWriter = new FrameWriter();
  readonly #duplex: Duplex;
  readonly #handler: FrameHandler;
  /** The header block of which more CONTINUATION frames are expected, if any. */
  #block: { readonly stream: number; readonly isEnd: boolean; readonly parts: PayloadBuffer; size: number } | undefined;
  /** Number of acknowledgments of PING and SETTINGS in {@linkcode Framing.out}. */
  #unsentAcks = 0;
  /** Whether the server's first SETTINGS frame was received. */
  #hasSettings = false;
  #isFlushing = false;
  #isClosed = false;

  constructor(duplex: Duplex, handler: FrameHandler) {
    this.#duplex = duplex;
    this.#handler = handler;
    this.out.raw(PREFACE);
  }

  /** Reads until the connection ends. */
  async read(): Promise<void> {
    const reader = new FrameReader();
    const onFrame = (frame: Frame): void => this.#onFrame(frame);
    try {
      for (;;) {
        const count = await this.#duplex.read(reader.buffer);
        if (count === null) throw new Error("the server closed the connection");
        this.#handler.onBytes();
        reader.read(count, onFrame);
        if (!this.out.isEmpty) this.flush();
      }
    } catch (error) {
      this.#handler.onLost(error);
    }
  }

  /**
   * Sends the buffered frames in a microtask, so that frames of one event loop turn share a write.
   */
  flush(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    queueMicrotask(async () => {
      try {
        while (!this.out.isEmpty && !this.#isClosed) {
          let rest = this.out.take();
          this.#unsentAcks = 0;
          this.#handler.onSend();
          while (rest.length > 0) rest = rest.subarray(await this.#duplex.write(rest));
        }
      } catch (error) {
        this.#handler.onLost(error);
      } finally {
        this.#isFlushing = false;
      }
    });
  }

  close(): void {
    this.#isClosed = true;
    try {
      this.#duplex.close();
    } catch {
      // It is already closed.
    }
  }

  #onFrame(frame: Frame): void {
    // The chunk that ended the connection may contain further frames.
    if (this.#isClosed) return;
    const { type, flags, stream, payload } = frame;
    rejectInvalidFrame(frame, this.#handler.nextStream);
    const isSettings = type === FRAME.settings && (flags & FLAG.ack) === 0;
    if (!this.#hasSettings && !isSettings) throw new ProtocolError("the first frame is not SETTINGS");
    this.#hasSettings = true;
    if (this.#block !== undefined && type !== FRAME.continuation) {
      throw new ProtocolError("another frame interrupts a header block");
    }
    switch (type) {
      case FRAME.headers: {
        const isEnd = (flags & FLAG.end) !== 0;
        if (flags & FLAG.endHeaders) return this.#handler.onHeaders(stream, isEnd, contentOf(frame));
        this.#block = { stream, isEnd, parts: new PayloadBuffer(), size: 0 };
        return this.#onBlockPart(contentOf(frame), flags);
      }
      case FRAME.continuation:
        if (this.#block?.stream !== stream) throw new ProtocolError("CONTINUATION without HEADERS");
        return this.#onBlockPart(payload, flags);
      case FRAME.ping:
        return flags & FLAG.ack ? undefined : this.#acknowledge(FRAME.ping, payload);
      case FRAME.settings:
        if (flags & FLAG.ack) return;
        this.#handler.onFrame(frame);
        return this.#acknowledge(FRAME.settings, EMPTY);
      case FRAME.data:
      case FRAME.reset:
      case FRAME.goAway:
      case FRAME.window:
        return this.#handler.onFrame(frame);
    }
  }

  #onBlockPart(part: Uint8Array, flags: number): void {
    const block = this.#block!;
    block.size += Math.max(part.length, MIN_PART);
    if (block.size > MAX_HEADER_BLOCK) {
      throw new ProtocolError(`a header block is longer than ${MAX_HEADER_BLOCK} bytes`);
    }
    block.parts.add(part);
    if (!(flags & FLAG.endHeaders)) return;
    this.#block = undefined;
    this.#handler.onHeaders(block.stream, block.isEnd, block.parts.bytes);
  }

  #acknowledge(type: number, payload: Uint8Array): void {
    if (++this.#unsentAcks > MAX_UNSENT_ACKS) {
      throw new ProtocolError(`the server does not read ${MAX_UNSENT_ACKS} acknowledgments of its PING and SETTINGS`);
    }
    this.out.frame(type, FLAG.ack, 0, payload);
  }
}
