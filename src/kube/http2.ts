/**
 * One HTTP/2 connection (RFC 9113), as far as a client of an API server needs it: requests with short bodies, answers that come whole, and watches that are
 * read as they come. An operator's requests are many and small, and `fetch` makes of each a Request, a Headers, a Response and a stream: twice the CPU time
 * of all the rest.
 */
import type { Answer } from "./answer.ts";
import { type AnswerHeaders, HeaderWriter, readHeaders } from "./hpack.ts";
import {
  CODE,
  contentOf,
  FLAG,
  four,
  FRAME,
  type Frame,
  FrameReader,
  FrameWriter,
  LONGEST_FRAME,
  SETTING,
} from "./http2_frames.ts";
import { type Asking, type Duplex, type Http2Options, NotProcessedError } from "./http2_asking.ts";
import type { Stream } from "./http2_stream.ts";
import { joined, streamedAnswer, wholeAnswer } from "./http2_answer.ts";
import { Liveness } from "./http2_liveness.ts";
import { StreamedBody } from "./streamed_body.ts";

const PREFACE = new TextEncoder().encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
// Go's client takes as much of a stream before it is read; of the connection more than all of its streams together.
const STREAM_WINDOW = 4 << 20;
const CONNECTION_WINDOW = 2 ** 30;
const FIRST_WINDOW = 65_535;
const LARGEST_WINDOW = 2 ** 31 - 1;
// A header block is at most so long: what goes on beyond is no answer of an API server.
const LONGEST_BLOCK = 1 << 20;
const TABLE_SIZE = 4096;
// So many of the requests that the server takes at once are left to those that may not wait.
const URGENT = 2;

/** A connection. */
export class Http2 {
  readonly #duplex: Duplex;
  readonly #onGone: (() => void) | undefined;
  readonly #out = new FrameWriter();
  readonly #headers = new HeaderWriter(TABLE_SIZE);
  readonly #encoder = new TextEncoder();
  readonly #decoder = new TextDecoder();
  readonly #streams = new Map<number, Stream>();
  /** Requests that wait until the server takes more at once. */
  #line: (() => void)[] = [];
  #next = 1;
  #mostStreams = 100;
  #firstWindow = FIRST_WINDOW;
  #window = FIRST_WINDOW;
  #taken = 0;
  #block: { readonly stream: number; readonly isEnd: boolean; readonly parts: Uint8Array[]; size: number } | undefined;
  #isFlushing = false;
  #isOpen = true;
  #broken: Error | undefined;
  readonly #liveness: Liveness;

  /**
   * @param duplex The connection, of which both sides know that HTTP/2 is spoken.
   * @param options What it needs beside.
   */
  constructor(duplex: Duplex, options: Http2Options) {
    this.#duplex = duplex;
    this.#onGone = options.onGone;
    this.#liveness = new Liveness({
      clock: options.clock,
      isBusy: () => this.#streams.size > 0 && this.#broken === undefined,
      ping: () => {
        this.#out.frame(FRAME.ping, 0, 0, new Uint8Array(8));
        this.#flush();
      },
      onDead: (error) => this.#fail(error),
    });
    this.#out.raw(PREFACE);
    this.#out.settings([[SETTING.tableSize, 0], [SETTING.push, 0], [SETTING.window, STREAM_WINDOW]]);
    this.#out.numbers(FRAME.window, 0, CONNECTION_WINDOW - FIRST_WINDOW);
    this.#flush();
    void this.#readAll();
  }

  /** Whether it takes more requests. */
  get isOpen(): boolean {
    return this.#isOpen && this.#next < LARGEST_WINDOW;
  }

  /**
   * Sends a request.
   *
   * @throws {NotProcessedError} If the server did not look at it.
   */
  request(asking: Asking): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { signal } = asking;
      if (signal?.aborted) return reject(signal.reason);
      const begin = (): void => {
        if (signal?.aborted) return reject(signal.reason);
        if (!this.isOpen) return reject(this.#refusal());
        this.#begin(asking, resolve, reject);
      };
      if (this.#hasRoom(asking.isUrgent)) return begin();
      // It waits no longer than its signal allows.
      const onAbort = (): void => reject(signal!.reason);
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#line.push(() => {
        signal?.removeEventListener("abort", onAbort);
        begin();
      });
    });
  }

  /** What may not wait, such as the question whether anybody is there, finds room beside all that does. */
  #hasRoom(isUrgent = false): boolean {
    return this.#streams.size < Math.max(1, this.#mostStreams - (isUrgent ? 0 : URGENT));
  }

  /** Ends it, and all that goes on over it. */
  close(): void {
    this.#fail(new Error("the connection was closed"));
  }

  #begin(asking: Asking, resolve: Stream["resolve"], reject: Stream["reject"]): void {
    const id = this.#next;
    this.#next += 2;
    const { method, authority, path, headers, body, signal } = asking;
    const unsent = body === null ? undefined : this.#encoder.encode(body);
    const onAbort = (): void => this.#cancel(id, signal!.reason);
    const stream: Stream = {
      id,
      asking,
      resolve,
      reject,
      onAbort,
      head: undefined,
      chunks: [],
      body: undefined,
      unsent,
      window: this.#firstWindow,
      taken: 0,
    };
    this.#streams.set(id, stream);
    signal?.addEventListener("abort", onAbort, { once: true });
    const block = this.#headers.write({ method, authority, path, headers, length: unsent?.length });
    this.#out.headers(id, block, unsent === undefined);
    this.#send(stream);
    this.#flush();
    this.#liveness.begin();
  }

  /** Sends as much of a body as the server takes. */
  #send(stream: Stream): void {
    while (stream.unsent !== undefined) {
      const { unsent, id } = stream;
      const count = Math.min(unsent.length, LONGEST_FRAME, this.#window, stream.window);
      if (count <= 0 && unsent.length > 0) return;
      const isEnd = count === unsent.length;
      this.#out.frame(FRAME.data, isEnd ? FLAG.end : 0, id, unsent.subarray(0, count));
      this.#window -= count;
      stream.window -= count;
      stream.unsent = isEnd ? undefined : unsent.subarray(count);
    }
  }

  /** Sends what was written, all that one turn wrote together. */
  #flush(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    queueMicrotask(async () => {
      try {
        while (!this.#out.isEmpty && this.#broken === undefined) {
          let rest = this.#out.take();
          while (rest.length > 0) rest = rest.subarray(await this.#duplex.write(rest));
        }
      } catch (error) {
        this.#fail(error as Error);
      } finally {
        this.#isFlushing = false;
      }
    });
  }

  async #readAll(): Promise<void> {
    const reader = new FrameReader();
    const take = (frame: Frame): void => this.#take(frame);
    try {
      for (;;) {
        const count = await this.#duplex.read(reader.room);
        if (count === null) throw new Error("the connection was closed by the server");
        this.#liveness.heard();
        reader.read(count, take);
        if (!this.#out.isEmpty) this.#flush();
      }
    } catch (error) {
      const isRule = error instanceof RangeError;
      this.#fail(isRule ? new Error(`the server breaks the rules of HTTP/2: ${error.message}`) : error as Error);
    }
  }

  #take(frame: Frame): void {
    const { type, flags, stream: id, payload } = frame;
    if (this.#block !== undefined && type !== FRAME.continuation) throw new RangeError("a header block breaks off");
    switch (type) {
      case FRAME.data:
        return this.#onData(frame);
      case FRAME.headers:
        this.#block = { stream: id, isEnd: (flags & FLAG.end) !== 0, parts: [], size: 0 };
        return this.#onBlock(contentOf(frame), flags);
      case FRAME.continuation:
        if (this.#block?.stream !== id) throw new RangeError("a header block goes on that did not begin");
        return this.#onBlock(payload, flags);
      case FRAME.reset:
        return this.#onReset(id, four(payload, 0));
      case FRAME.settings:
        return flags & FLAG.ack ? undefined : this.#onSettings(payload);
      case FRAME.ping:
        if (!(flags & FLAG.ack)) this.#out.frame(FRAME.ping, FLAG.ack, 0, payload);
        return;
      case FRAME.goAway:
        return this.#onGoAway(four(payload, 0) & LARGEST_WINDOW);
      case FRAME.window:
        return this.#onWindow(id, four(payload, 0) & LARGEST_WINDOW);
      case FRAME.push:
        throw new RangeError("it pushes what nobody asked for");
    }
  }

  #onData(frame: Frame): void {
    const { stream: id, flags, payload } = frame;
    // What fills a frame up counts as well, and what comes for a stream that is gone.
    this.#taken += payload.length;
    if (this.#taken > CONNECTION_WINDOW / 2) {
      this.#out.numbers(FRAME.window, 0, this.#taken);
      this.#taken = 0;
    }
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    if (stream.head === undefined) throw new RangeError("an answer has a body before its status");
    const content = contentOf(frame);
    const isEnd = (flags & FLAG.end) !== 0;
    if (stream.body !== undefined) {
      // The bytes are read over by what comes next.
      if (content.length > 0) stream.body.push(content.slice(), payload.length);
      else this.#giveBack(stream, payload.length);
    } else if (!isEnd || stream.chunks.length > 0) {
      stream.chunks.push(content.slice());
      this.#giveBack(stream, payload.length);
    }
    if (isEnd) this.#onEnd(stream, stream.chunks.length > 0 ? joined(stream.chunks) : content);
  }

  /** Lets the server send on. */
  #giveBack(stream: Stream, bytes: number): void {
    stream.taken += bytes;
    if (stream.taken < STREAM_WINDOW / 2 || !this.#streams.has(stream.id)) return;
    this.#out.numbers(FRAME.window, stream.id, stream.taken);
    stream.taken = 0;
    this.#flush();
  }

  #onBlock(part: Uint8Array, flags: number): void {
    const block = this.#block!;
    block.size += part.length;
    if (block.size > LONGEST_BLOCK) throw new RangeError("a header block is too long");
    const isWhole = (flags & FLAG.endHeaders) !== 0;
    if (!isWhole) return void block.parts.push(part.slice());
    this.#block = undefined;
    const head = readHeaders(block.parts.length === 0 ? part : joined([...block.parts, part]));
    const stream = this.#streams.get(block.stream);
    if (stream === undefined) return;
    if (stream.head === undefined) this.#onHead(stream, head, block.isEnd);
    if (block.isEnd) this.#onEnd(stream, joined(stream.chunks));
  }

  #onHead(stream: Stream, head: AnswerHeaders | undefined, isEnd: boolean): void {
    if (head === undefined) throw new RangeError("an answer has no status");
    // Told on the way: the answer is still to come.
    if (head.status < 200 && !isEnd) return;
    stream.head = head;
    if (!stream.asking.streams) return;
    stream.body = new StreamedBody(
      (bytes) => this.#giveBack(stream, bytes),
      (reason) => this.#cancel(stream.id, reason),
    );
    stream.resolve(streamedAnswer(head, stream.body));
  }

  #onEnd(stream: Stream, content: Uint8Array): void {
    const { head, unsent, body, resolve, reject } = stream;
    if (head === undefined) throw new RangeError("an answer ends before its status");
    // It was answered before it was sent whole: nobody reads the rest.
    if (unsent !== undefined) this.#out.numbers(FRAME.reset, stream.id, CODE.cancel);
    this.#forget(stream);
    if (body !== undefined) return body.end();
    try {
      resolve(wholeAnswer(head, this.#decoder.decode(content)));
    } catch (error) {
      // A text can only be so long: the others have no part in that.
      reject(error);
    }
  }

  #onReset(id: number, code: number): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    const told = `the server ended the request (HTTP/2 code ${code})`;
    this.#drop(stream, code === CODE.refused ? new NotProcessedError(told) : new Error(told));
  }

  #onSettings(payload: Uint8Array): void {
    for (let at = 0; at + 6 <= payload.length; at += 6) {
      const id = payload[at]! << 8 | payload[at + 1]!;
      const value = four(payload, at + 2);
      if (id === SETTING.tableSize) this.#headers.resize(value);
      else if (id === SETTING.concurrent) this.#mostStreams = value;
      else if (id === SETTING.window) {
        for (const stream of this.#streams.values()) stream.window += value - this.#firstWindow;
        this.#firstWindow = value;
      }
    }
    this.#out.frame(FRAME.settings, FLAG.ack, 0, new Uint8Array());
    this.#onRoom();
  }

  #onWindow(id: number, more: number): void {
    const stream = this.#streams.get(id);
    if (id === 0) this.#window += more;
    else if (stream !== undefined) stream.window += more;
    if (Math.max(this.#window, stream?.window ?? 0) > LARGEST_WINDOW) throw new RangeError("a window is too large");
    this.#onRoom();
  }

  /** The server takes more: of bodies, of requests. */
  #onRoom(): void {
    for (const stream of this.#streams.values()) if (stream.unsent !== undefined) this.#send(stream);
    while (this.#line.length > 0 && this.#hasRoom()) this.#line.shift()!();
  }

  /** The server takes no more requests; those that it looks at go on. */
  #onGoAway(last: number): void {
    this.#isOpen = false;
    for (const stream of [...this.#streams.values()]) if (stream.id > last) this.#drop(stream, this.#refusal());
    this.#refuseLine();
    this.#closeIfDone();
  }

  #refusal(): Error {
    return this.#broken ?? new NotProcessedError("the server takes no more requests on this connection");
  }

  #refuseLine(): void {
    const line = this.#line;
    this.#line = [];
    for (const begin of line) begin();
  }

  #cancel(id: number, reason: unknown): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    this.#out.numbers(FRAME.reset, id, CODE.cancel);
    this.#flush();
    // Who gave up a stream knows why: to whoever still reads it, it is over.
    stream.body?.end();
    this.#drop(stream, reason);
  }

  #drop(stream: Stream, error: unknown): void {
    this.#forget(stream);
    if (stream.body !== undefined) stream.body.fail(error);
    else stream.reject(error);
  }

  #forget(stream: Stream): void {
    this.#streams.delete(stream.id);
    stream.asking.signal?.removeEventListener("abort", stream.onAbort);
    if (this.#line.length > 0) this.#onRoom();
    this.#closeIfDone();
  }

  #closeIfDone(): void {
    if (!this.#isOpen && this.#streams.size === 0 && this.#broken === undefined) this.close();
  }

  #fail(error: Error): void {
    if (this.#broken !== undefined) return;
    this.#broken = error;
    this.#isOpen = false;
    try {
      this.#duplex.close();
    } catch {
      // It is closed already.
    }
    for (const stream of [...this.#streams.values()]) this.#drop(stream, error);
    this.#refuseLine();
    this.#liveness[Symbol.dispose]();
    this.#onGone?.();
  }
}
