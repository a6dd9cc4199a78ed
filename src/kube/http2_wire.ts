/** What goes back and forth over one HTTP/2 connection, frame by frame: what every stream of it shares. */
import { Gathered } from "./gathered.ts";
import type { Duplex } from "./http2_asking.ts";
import { contentOf, FLAG, FRAME, type Frame, FrameReader, FrameWriter } from "./http2_frames.ts";
import { refuseBrokenFrame } from "./http2_rules.ts";

const PREFACE = new TextEncoder().encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
/** A header block is at most so long: what goes on beyond is no answer of an API server. */
export const LONGEST_BLOCK: number = 1 << 20;
// A frame that adds nothing to a block counts as well.
const LEAST_PART = 64;
// As many answers to PING and SETTINGS wait to be taken as Go's server lets wait (golang.org/x/net/http2, maxQueuedControlFrames).
const MOST_OWED = 10_000;
const NOTHING = new Uint8Array();

/** Who is told of what comes. What it throws ends the connection: a `RangeError` where the server breaks the rules. */
export interface Told {
  /** The stream that is opened next. */
  readonly next: number;
  /** Something came. */
  heard(): void;
  /** A header block, whole. */
  headers(stream: number, isEnd: boolean, block: Uint8Array): void;
  /** A frame of DATA, RST_STREAM, SETTINGS, GOAWAY or WINDOW_UPDATE. */
  frame(frame: Frame): void;
  /** What was written until now is being sent. */
  sending(): void;
  /** It is over. */
  lost(error: unknown): void;
}

/** The frames of a connection. */
export class Wire {
  /** What is to be sent, with the next {@linkcode Wire.flush}. */
  readonly out: FrameWriter = new FrameWriter();
  readonly #duplex: Duplex;
  readonly #told: Told;
  /** A header block that is not yet whole. */
  #block: { readonly stream: number; readonly isEnd: boolean; readonly parts: Gathered; size: number } | undefined;
  /** Answers to PING and SETTINGS that wait to be sent. */
  #owed = 0;
  #isGreeted = false;
  #isFlushing = false;
  #isClosed = false;

  constructor(duplex: Duplex, told: Told) {
    this.#duplex = duplex;
    this.#told = told;
    this.out.raw(PREFACE);
  }

  /** Reads until the end. */
  async read(): Promise<void> {
    const reader = new FrameReader();
    const take = (frame: Frame): void => this.#take(frame);
    try {
      for (;;) {
        const count = await this.#duplex.read(reader.room);
        if (count === null) throw new Error("the connection was closed by the server");
        this.#told.heard();
        reader.read(count, take);
        if (!this.out.isEmpty) this.flush();
      }
    } catch (error) {
      this.#told.lost(error);
    }
  }

  /** Sends what was written, all that one turn wrote together. */
  flush(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    queueMicrotask(async () => {
      try {
        while (!this.out.isEmpty && !this.#isClosed) {
          let rest = this.out.take();
          this.#owed = 0;
          this.#told.sending();
          while (rest.length > 0) rest = rest.subarray(await this.#duplex.write(rest));
        }
      } catch (error) {
        this.#told.lost(error);
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
      // It is closed already.
    }
  }

  #take(frame: Frame): void {
    const { type, flags, stream, payload } = frame;
    refuseBrokenFrame(frame, this.#told.next);
    const isGreeting = type === FRAME.settings && (flags & FLAG.ack) === 0;
    if (!this.#isGreeted && !isGreeting) throw new RangeError("it does not begin with its settings");
    this.#isGreeted = true;
    if (this.#block !== undefined && type !== FRAME.continuation) throw new RangeError("a header block breaks off");
    switch (type) {
      case FRAME.headers: {
        const isEnd = (flags & FLAG.end) !== 0;
        if (flags & FLAG.endHeaders) return this.#told.headers(stream, isEnd, contentOf(frame));
        this.#block = { stream, isEnd, parts: new Gathered(), size: 0 };
        return this.#onPart(contentOf(frame), flags);
      }
      case FRAME.continuation:
        if (this.#block?.stream !== stream) throw new RangeError("a header block goes on that did not begin");
        return this.#onPart(payload, flags);
      case FRAME.ping:
        return flags & FLAG.ack ? undefined : this.#answer(FRAME.ping, payload);
      case FRAME.settings:
        if (flags & FLAG.ack) return;
        this.#told.frame(frame);
        return this.#answer(FRAME.settings, NOTHING);
      case FRAME.data:
      case FRAME.reset:
      case FRAME.goAway:
      case FRAME.window:
        return this.#told.frame(frame);
    }
  }

  #onPart(part: Uint8Array, flags: number): void {
    const block = this.#block!;
    block.size += Math.max(part.length, LEAST_PART);
    if (block.size > LONGEST_BLOCK) throw new RangeError("a header block is too long");
    block.parts.add(part);
    if (!(flags & FLAG.endHeaders)) return;
    this.#block = undefined;
    this.#told.headers(block.stream, block.isEnd, block.parts.bytes);
  }

  #answer(type: number, payload: Uint8Array): void {
    // Whoever asks and does not take the answers would fill our memory.
    if (++this.#owed > MOST_OWED) throw new RangeError("it asks for answers that it does not take");
    this.out.frame(type, FLAG.ack, 0, payload);
  }
}
