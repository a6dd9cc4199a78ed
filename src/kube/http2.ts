/**
 * One HTTP/2 connection (RFC 9113), as far as a client of an API server needs it: requests with short bodies, answers that come whole, and watches that are
 * read as they come. An operator's requests are many and small, and `fetch` makes of each a Request, a Headers, a Response and a stream: twice the CPU time
 * of all the rest.
 */
import { type Answer, LongAnswerError, LONGEST_TEXT } from "./answer.ts";
import { FencedError } from "./connection.ts";
import { Gathered } from "./gathered.ts";
import { type AnswerHeaders, HeaderWriter, readHeaders } from "./hpack.ts";
import { CODE, contentOf, FLAG, four, FRAME, type Frame, type FrameWriter, SETTING } from "./http2_frames.ts";
import { streamedAnswer, wholeAnswer } from "./http2_answer.ts";
import { type Asking, type Duplex, type Http2Options, NotProcessedError, UnansweredError } from "./http2_asking.ts";
import { type Goodbye, nameOfCode, readGoodbye } from "./http2_codes.ts";
import { Line } from "./http2_line.ts";
import { Liveness } from "./http2_liveness.ts";
import { hasRoom, hasRoomToWatch } from "./http2_room.ts";
import type { Stream } from "./http2_stream.ts";
import { FIRST_WINDOW, LARGEST_WINDOW, Uploads } from "./http2_uploads.ts";
import { LONGEST_BLOCK, Wire } from "./http2_wire.ts";
import { StreamedBody } from "./streamed_body.ts";

// Go's client takes as much of a stream before it is read; of the connection more than all of its streams together.
const STREAM_WINDOW = 4 << 20;
const CONNECTION_WINDOW = 2 ** 30;
const GIVEN_BACK = 2 ** 24;
const TABLE_SIZE = 4096;
// As many as Go's client accepts (golang.org/x/net/http2, max1xxResponses).
const MOST_INFORMATIONAL = 5;
const NOTHING = new Uint8Array();
const BREAKS_RULES = "the server breaks the rules of HTTP/2";

/** A connection. */
export class Http2 {
  readonly #wire: Wire;
  readonly #out: FrameWriter;
  readonly #uploads: Uploads;
  readonly #onGone: (() => void) | undefined;
  readonly #headers = new HeaderWriter(TABLE_SIZE);
  readonly #encoder = new TextEncoder();
  readonly #decoder = new TextDecoder();
  readonly #streams = new Map<number, Stream>();
  readonly #line = new Line();
  /** Requests that are written, and that nothing of was sent yet. */
  #unsent: Stream[] = [];
  #next = 1;
  /** Streams below this were followed by something from the server. */
  #heardBelow = 1;
  /** Whether a request was given up of which the server said nothing: it may be that nobody is there. */
  #isInDoubt = false;
  #mostStreams: number;
  readonly #longestAnswer: number;
  #taken = 0;
  #isOpen = true;
  #goodbye: Goodbye | undefined;
  #broken: Error | undefined;
  /** Whether it was ended on our side, and not lost. */
  #isClosed = false;
  readonly #liveness: Liveness;

  /**
   * @param duplex The connection, of which both sides know that HTTP/2 is spoken.
   * @param options What it needs beside.
   */
  constructor(duplex: Duplex, options: Http2Options) {
    this.#onGone = options.onGone;
    this.#mostStreams = options.mostStreams ?? 100;
    this.#longestAnswer = options.longestAnswer ?? LONGEST_TEXT;
    this.#liveness = new Liveness({
      clock: options.clock,
      isBusy: () => this.#streams.size + this.#line.length > 0 || this.#isInDoubt,
      ping: () => {
        this.#out.frame(FRAME.ping, 0, 0, new Uint8Array(8));
        this.#wire.flush();
      },
      onDead: (error) => this.#fail(new UnansweredError(this.#told(error.message))),
    });
    const next = (): number => this.#next;
    this.#wire = new Wire(duplex, {
      get next() {
        return next();
      },
      heard: () => this.#heard(),
      headers: (stream, isEnd, block) => this.#onHeaders(stream, isEnd, block),
      frame: (frame) => this.#take(frame),
      sending: () => void (this.#unsent = []),
      lost: (error) => this.#fail(this.#lost(error)),
    });
    this.#out = this.#wire.out;
    this.#uploads = new Uploads(this.#out);
    this.#out.settings([
      [SETTING.tableSize, 0],
      [SETTING.push, 0],
      [SETTING.window, STREAM_WINDOW],
      [SETTING.headerList, LONGEST_BLOCK],
    ]);
    this.#out.numbers(FRAME.window, 0, CONNECTION_WINDOW - FIRST_WINDOW);
    this.#wire.flush();
    void this.#wire.read();
  }

  /** Whether it takes more requests. */
  get isOpen(): boolean {
    return this.#isOpen && this.#next < LARGEST_WINDOW;
  }

  /** How many requests the server takes at once. */
  get mostStreams(): number {
    return this.#mostStreams;
  }

  /** Whether there is room for one more watch; `isAlone` where nothing but watches goes over it. */
  hasRoomToWatch(isAlone: boolean): boolean {
    const watches = [...this.#streams.values()].filter(({ asking }) => asking.streams).length + this.#line.streaming;
    return hasRoomToWatch(this.#mostStreams, watches, isAlone);
  }

  /**
   * Sends a request.
   *
   * @throws {NotProcessedError} If the server did not look at it.
   * @throws {UnansweredError} If it may have, and the connection is lost.
   */
  request(asking: Asking): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (asking.signal?.aborted) return reject(asking.signal.reason);
      if (!this.isOpen) return reject(this.#refusal());
      const begin = (): void => this.#begin(asking, resolve, reject);
      if (this.#hasRoom(asking.isUrgent)) begin();
      else this.#line.add({ asking, begin, reject });
      this.#liveness.begin();
    });
  }

  #hasRoom(isUrgent = false): boolean {
    return hasRoom(this.#mostStreams, this.#streams.size, isUrgent);
  }

  /** Ends it, and all that goes on over it. */
  close(): void {
    this.#isClosed = true;
    this.#fail(new Error("the connection was closed"));
  }

  #begin(asking: Asking, resolve: Stream["resolve"], reject: Stream["reject"]): void {
    try {
      asking.fence?.();
    } catch (error) {
      return reject(new FencedError(error));
    }
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
      informational: 0,
      whole: undefined,
      body: undefined,
      unsent,
      window: this.#uploads.first,
      room: STREAM_WINDOW,
      taken: 0,
    };
    this.#streams.set(id, stream);
    this.#unsent.push(stream);
    signal?.addEventListener("abort", onAbort, { once: true });
    const block = this.#headers.write({ method, authority, path, headers, length: unsent?.length });
    this.#out.headers(id, block, unsent === undefined);
    this.#uploads.send(stream);
    this.#wire.flush();
  }

  #heard(): void {
    this.#liveness.heard();
    this.#heardBelow = this.#next;
    this.#isInDoubt = false;
  }

  /** The error of a connection that ended by itself, with what the server said before. */
  #lost(error: unknown): Error {
    const { message } = error as Error;
    if (error instanceof RangeError) return new Error(this.#told(`${BREAKS_RULES}: ${message}`));
    return new UnansweredError(this.#told(message));
  }

  #told(what: string): string {
    return this.#goodbye === undefined ? what : `${what}; the server said ${this.#goodbye.told}`;
  }

  #take(frame: Frame): void {
    const { type, stream: id, payload } = frame;
    switch (type) {
      case FRAME.data:
        return this.#onData(frame);
      case FRAME.reset:
        return this.#onReset(id, four(payload, 0));
      case FRAME.settings:
        return this.#onSettings(payload);
      case FRAME.goAway:
        return this.#onGoAway(payload);
      case FRAME.window:
        return this.#onWindow(id, four(payload, 0) & LARGEST_WINDOW);
    }
  }

  #onData(frame: Frame): void {
    const { stream: id, flags, payload } = frame;
    // What fills a frame up counts as well, and what comes for a stream that is gone.
    this.#taken += payload.length;
    if (this.#taken >= GIVEN_BACK) {
      this.#out.numbers(FRAME.window, 0, this.#taken);
      this.#taken = 0;
    }
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    stream.room -= payload.length;
    if (stream.room < 0) throw new RangeError("an answer is sent on beyond its window");
    if (stream.head === undefined) return this.#refuse(stream, "an answer has a body before its status");
    const content = contentOf(frame);
    const isEnd = (flags & FLAG.end) !== 0;
    if (stream.body !== undefined) {
      // The bytes are read over by what comes next.
      if (content.length > 0) stream.body.push(content.slice(), payload.length);
      else this.#giveBack(stream, payload.length);
    } else if ((stream.whole?.length ?? 0) + content.length > this.#longestAnswer) {
      return this.#cancel(id, new LongAnswerError(this.#longestAnswer));
    } else if (!isEnd || stream.whole !== undefined) {
      (stream.whole ??= new Gathered()).add(content);
      this.#giveBack(stream, payload.length);
    }
    if (isEnd) this.#onEnd(stream, stream.whole?.bytes ?? content);
  }

  /** Lets the server send on. */
  #giveBack(stream: Stream, bytes: number): void {
    stream.taken += bytes;
    if (stream.taken < STREAM_WINDOW / 2 || !this.#streams.has(stream.id)) return;
    this.#out.numbers(FRAME.window, stream.id, stream.taken);
    stream.room += stream.taken;
    stream.taken = 0;
    this.#wire.flush();
  }

  #onHeaders(id: number, isEnd: boolean, block: Uint8Array): void {
    const head = readHeaders(block);
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    if (stream.head === undefined) return this.#onHead(stream, head, isEnd);
    if (!isEnd) return this.#refuse(stream, "an answer goes on behind its end");
    if (head !== undefined) return this.#refuse(stream, "an answer has a second status at its end");
    this.#onEnd(stream, stream.whole?.bytes ?? NOTHING);
  }

  #onHead(stream: Stream, head: AnswerHeaders | undefined, isEnd: boolean): void {
    if (head === undefined) return this.#refuse(stream, "an answer has no status");
    if (head.status < 200) {
      // Told on the way: the answer is still to come. HTTP/2 has no other protocol to change to.
      if (isEnd || head.status === 101) return this.#refuse(stream, `an answer has the status ${head.status}`);
      if (++stream.informational > MOST_INFORMATIONAL) this.#refuse(stream, "an answer never comes: too many of 1xx");
      return;
    }
    stream.head = head;
    if (stream.asking.streams) {
      stream.body = new StreamedBody(
        (bytes) => this.#giveBack(stream, bytes),
        (reason) => this.#cancel(stream.id, reason),
      );
      stream.resolve(streamedAnswer(head, stream.body));
    }
    if (isEnd) this.#onEnd(stream, NOTHING);
  }

  #onEnd(stream: Stream, content: Uint8Array): void {
    const { unsent, body, resolve, reject } = stream;
    const head = stream.head!;
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
    const told = `the server ended the request (HTTP/2 ${nameOfCode(code)})`;
    // Of a stream that it does not take a server may say this as well, or that it lost count: then nothing else is asked there.
    if (code === CODE.protocol) this.#isOpen = false;
    const isUnanswered = stream.head === undefined;
    if (isUnanswered && code === CODE.refused) this.#drop(stream, new NotProcessedError(told));
    else if (isUnanswered && code === CODE.protocol) this.#drop(stream, new UnansweredError(told));
    else this.#drop(stream, new Error(told));
    this.#onRoom();
  }

  /** Ends a stream over which the server breaks the rules; others go on. */
  #refuse(stream: Stream, told: string, code: number = CODE.protocol): void {
    this.#out.numbers(FRAME.reset, stream.id, code);
    this.#drop(stream, new Error(`${BREAKS_RULES}: ${told}`));
  }

  #onSettings(payload: Uint8Array): void {
    for (let at = 0; at + 6 <= payload.length; at += 6) {
      const id = payload[at]! << 8 | payload[at + 1]!;
      const value = four(payload, at + 2);
      if (id === SETTING.tableSize) this.#headers.resize(value);
      else if (id === SETTING.concurrent) this.#mostStreams = value;
      else if (id === SETTING.window) this.#uploads.resize(value, this.#streams.values());
    }
    this.#onRoom();
  }

  #onWindow(id: number, more: number): void {
    const stream = this.#streams.get(id);
    if (id === 0) this.#uploads.grow(more);
    else if (stream !== undefined) {
      if (more === 0) return this.#refuse(stream, "a window grows by nothing");
      stream.window += more;
      if (stream.window > LARGEST_WINDOW) return this.#refuse(stream, "a window is too large", CODE.flow);
    }
    this.#onRoom();
  }

  /** The server takes more: of bodies, of requests. */
  #onRoom(): void {
    for (const stream of this.#streams.values()) this.#uploads.send(stream);
    if (!this.isOpen) this.#refuseLine();
    while (this.#line.length > 0 && this.#hasRoom(this.#line.isUrgent)) this.#line.next()!.begin();
    this.#closeIfDone();
  }

  /** The server takes no more requests; those that it looks at go on. */
  #onGoAway(payload: Uint8Array): void {
    this.#isOpen = false;
    this.#goodbye = readGoodbye(payload, this.#goodbye);
    const { last } = this.#goodbye;
    for (const stream of [...this.#streams.values()]) if (stream.id > last) this.#drop(stream, this.#refusal());
    this.#onRoom();
  }

  /** Why a request is not sent. It may go elsewhere, unless the connection was given up, and with it all that was to go over it. */
  #refusal(): Error {
    if (this.#isClosed) return this.#broken!;
    return new NotProcessedError(
      this.#broken?.message ?? this.#told("the server takes no more requests on this connection"),
    );
  }

  #refuseLine(): void {
    while (this.#line.length > 0) this.#line.next()!.reject(this.#refusal());
  }

  #cancel(id: number, reason: unknown): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    this.#out.numbers(FRAME.reset, id, CODE.cancel);
    this.#wire.flush();
    if (id >= this.#heardBelow) this.#isInDoubt = true;
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
    else this.#closeIfDone();
  }

  #closeIfDone(): void {
    if (!this.isOpen && this.#streams.size === 0) this.#fail(new Error(this.#told("the connection is done")));
  }

  #fail(error: Error): void {
    if (this.#broken !== undefined) return;
    this.#broken = error;
    this.#isOpen = false;
    this.#wire.close();
    this.#refuseLine();
    for (const stream of [...this.#streams.values()]) {
      this.#drop(stream, this.#unsent.includes(stream) ? this.#refusal() : error);
    }
    this.#liveness[Symbol.dispose]();
    this.#onGone?.();
  }
}
