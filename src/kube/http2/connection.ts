/** Requests and responses of one HTTP/2 connection (RFC 9113, sections 5.1, 6 and 8). */
import type { Clock } from "../../base/clock.ts";
import { MAX_RESPONSE_BYTES, ResponseTooLargeError, type WireResponse } from "../response.ts";
import { FencedError } from "../connection.ts";
import {
  ConnectionClosedError,
  NotProcessedError,
  ProtocolError,
  StreamResetError,
  UnansweredError,
} from "./errors.ts";
import { INITIAL_WINDOW, MAX_WINDOW, SendWindows } from "./flow_control.ts";
import {
  CODE,
  codeName,
  contentOf,
  FLAG,
  FRAME,
  type Frame,
  type FrameWriter,
  type GoAway,
  PayloadBuffer,
  readGoAway,
  SETTING,
  uint32,
} from "./frames.ts";
import { type Duplex, Framing, MAX_HEADER_BLOCK } from "./framing.ts";
import { HeaderWriter, readHeaders, type ResponseHeaders } from "./hpack.ts";
import { Liveness } from "./liveness.ts";
import { mayOpen, mayWatch, RequestQueue } from "./request_queue.ts";
import { type Http2Request, type Stream, streamedResponse, wholeResponse } from "./stream.ts";
import { StreamedBody } from "./streamed_body.ts";

// As in Go's client: up to 4 MiB per stream may be unread, and the connection window is so large
// that it does not limit the streams.
const STREAM_WINDOW = 4 << 20;
const CONNECTION_WINDOW = 2 ** 30;
/** Received bytes after which the connection window is enlarged again. */
const WINDOW_UPDATE_SIZE = 2 ** 24;
/** Size of the server's header table, in bytes: the default of SETTINGS_HEADER_TABLE_SIZE. */
const TABLE_SIZE = 4096;
/**
 * Maximum number of informational responses, as in Go's client (`golang.org/x/net/http2`,
 * max1xxResponses).
 */
const MAX_INFORMATIONAL = 5;
const EMPTY = new Uint8Array();

/** Options of {@linkcode Http2Connection}. */
export interface Http2ConnectionOptions {
  readonly clock: Clock;
  /** Called when the connection has ended for any reason. */
  readonly onEnd?: () => void;
  /**
   * Streams that the server allows at once, until its SETTINGS frame is received. @default {100}
   */
  readonly maxStreams?: number;
  /** Longest response that is not streamed, in bytes. @default {536_870_888} */
  readonly maxResponseBytes?: number;
}

/** One connection to a server. */
export class Http2Connection {
  readonly #framing: Framing;
  readonly #out: FrameWriter;
  readonly #sendWindows: SendWindows;
  readonly #liveness: Liveness;
  readonly #onEnd: (() => void) | undefined;
  readonly #maxResponseBytes: number;
  readonly #headers = new HeaderWriter(TABLE_SIZE);
  readonly #encoder = new TextEncoder();
  readonly #decoder = new TextDecoder();
  /** Open streams, by number. */
  readonly #streams = new Map<number, Stream>();
  /** Requests that wait for a stream. */
  readonly #queue = new RequestQueue();
  /** Streams whose frames are buffered and have not been written to the connection. */
  #unsent: Stream[] = [];
  /** Number of the next stream. The numbers of a client's streams are odd. */
  #nextStream = 1;
  /** Streams below this number were opened before bytes were last received. */
  #receivedBelow = 1;
  /**
   * Whether a request was cancelled before any bytes were received after it. The connection may be
   * dead, so it is checked even if no request is pending.
   */
  #mayBeDead = false;
  #maxStreams: number;
  /** Number of received bytes that were not yet added to the connection window again. */
  #unreturned = 0;
  /** Whether new requests are accepted. */
  #isOpen = true;
  /** Whether it was closed by this process. */
  #isClosed = false;
  #goAway: GoAway | undefined;
  /** The error that ended the connection. */
  #error: Error | undefined;

  /**
   * @param duplex A connection on which HTTP/2 was negotiated.
   * @param options Clock and limits.
   */
  constructor(duplex: Duplex, options: Http2ConnectionOptions) {
    this.#onEnd = options.onEnd;
    this.#maxStreams = options.maxStreams ?? 100;
    this.#maxResponseBytes = options.maxResponseBytes ?? MAX_RESPONSE_BYTES;
    this.#liveness = new Liveness({
      clock: options.clock,
      isBusy: () => this.#streams.size + this.#queue.length > 0 || this.#mayBeDead,
      ping: () => {
        this.#out.frame(FRAME.ping, 0, 0, new Uint8Array(8));
        this.#framing.flush();
      },
      onDead: (error) => this.#fail(new UnansweredError(this.#withGoAway(error.message))),
    });
    const nextStream = (): number => this.#nextStream;
    this.#framing = new Framing(duplex, {
      get nextStream() {
        return nextStream();
      },
      onBytes: () => this.#onBytes(),
      onHeaders: (stream, isEnd, block) => this.#onHeaders(stream, isEnd, block),
      onFrame: (frame) => this.#onFrame(frame),
      onSend: () => void (this.#unsent = []),
      onLost: (error) => this.#fail(this.#lostError(error)),
    });
    this.#out = this.#framing.out;
    this.#sendWindows = new SendWindows(this.#out);
    this.#out.settings([
      [SETTING.tableSize, 0],
      [SETTING.push, 0],
      [SETTING.window, STREAM_WINDOW],
      [SETTING.headerList, MAX_HEADER_BLOCK],
    ]);
    this.#out.numbers(FRAME.window, 0, CONNECTION_WINDOW - INITIAL_WINDOW);
    this.#framing.flush();
    void this.#framing.read();
  }

  /** Whether the connection accepts requests. */
  get isOpen(): boolean {
    return this.#isOpen && this.#nextStream < MAX_WINDOW;
  }

  /** Number of streams that the server allows at once. */
  get maxStreams(): number {
    return this.#maxStreams;
  }

  /**
   * Returns whether one more watch may use the connection.
   *
   * @param isForWatches Whether the connection is only for watches.
   */
  mayWatch(isForWatches: boolean): boolean {
    const open = [...this.#streams.values()].filter(({ request }) => request.streams).length;
    return mayWatch(this.#maxStreams, open + this.#queue.watches, isForWatches);
  }

  /**
   * Sends a request. It waits while the server allows no further stream.
   *
   * @throws {NotProcessedError} If the server did not process it.
   * @throws {UnansweredError} If the connection was lost and the server may have processed it.
   * @throws {StreamResetError} If the server started to process it, and reset the stream.
   * @throws {ProtocolError} If the server violated HTTP/2.
   * @throws {FencedError} If its fence threw an error.
   * @throws The reason of its signal, if that is aborted.
   */
  request(request: Http2Request): Promise<WireResponse> {
    return new Promise((resolve, reject) => {
      if (request.signal?.aborted) return reject(request.signal.reason);
      if (!this.isOpen) return reject(this.#unavailableError());
      const begin = (): void => this.#begin(request, resolve, reject);
      if (this.#mayOpen(request.isUrgent)) begin();
      else this.#queue.add({ request, begin, reject });
      this.#liveness.start();
    });
  }

  #mayOpen(isUrgent = false): boolean {
    return mayOpen(this.#maxStreams, this.#streams.size, isUrgent);
  }

  /** Closes the connection. All its requests fail. */
  close(): void {
    this.#isClosed = true;
    this.#fail(new ConnectionClosedError());
  }

  #begin(request: Http2Request, resolve: Stream["resolve"], reject: Stream["reject"]): void {
    try {
      request.fence?.();
    } catch (error) {
      return reject(new FencedError(error));
    }
    const id = this.#nextStream;
    this.#nextStream += 2;
    const { method, authority, path, headers, body, signal } = request;
    const unsent = body === null ? undefined : this.#encoder.encode(body);
    const onAbort = (): void => this.#cancel(id, signal!.reason);
    const stream: Stream = {
      id,
      request,
      resolve,
      reject,
      onAbort,
      headers: undefined,
      informational: 0,
      whole: undefined,
      body: undefined,
      unsent,
      sendWindow: this.#sendWindows.initial,
      receiveWindow: STREAM_WINDOW,
      unreturned: 0,
    };
    this.#streams.set(id, stream);
    this.#unsent.push(stream);
    signal?.addEventListener("abort", onAbort, { once: true });
    const block = this.#headers.write({ method, authority, path, headers, length: unsent?.length });
    this.#out.headers(id, block, unsent === undefined);
    this.#sendWindows.send(stream);
    this.#framing.flush();
  }

  #onBytes(): void {
    this.#liveness.received();
    this.#receivedBelow = this.#nextStream;
    this.#mayBeDead = false;
  }

  #lostError(error: unknown): Error {
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof ProtocolError) return violation(this.#withGoAway(message));
    return new UnansweredError(this.#withGoAway(message));
  }

  #withGoAway(message: string): string {
    return this.#goAway === undefined ? message : `${message} (the server sent GOAWAY: ${this.#goAway.reason})`;
  }

  #onFrame(frame: Frame): void {
    const { type, stream: id, payload } = frame;
    switch (type) {
      case FRAME.data:
        return this.#onData(frame);
      case FRAME.reset:
        return this.#onReset(id, uint32(payload, 0));
      case FRAME.settings:
        return this.#onSettings(payload);
      case FRAME.goAway:
        return this.#onGoAway(payload);
      case FRAME.window:
        return this.#onWindowUpdate(id, uint32(payload, 0) & MAX_WINDOW);
    }
  }

  #onData(frame: Frame): void {
    const { stream: id, flags, payload } = frame;
    // The connection window includes padding, and data of streams that have ended.
    this.#unreturned += payload.length;
    if (this.#unreturned >= WINDOW_UPDATE_SIZE) {
      this.#out.numbers(FRAME.window, 0, this.#unreturned);
      this.#unreturned = 0;
    }
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    stream.receiveWindow -= payload.length;
    if (stream.receiveWindow < 0) throw new ProtocolError("a response exceeds its window");
    if (stream.headers === undefined) return this.#rejectResponse(stream, "a response has a body before its status");
    const content = contentOf(frame);
    const isEnd = (flags & FLAG.end) !== 0;
    if (stream.body !== undefined) {
      if (content.length > 0) stream.body.push(content, payload.length);
      else this.#returnWindow(stream, payload.length);
    } else if ((stream.whole?.length ?? 0) + content.length > this.#maxResponseBytes) {
      return this.#cancel(id, new ResponseTooLargeError(this.#maxResponseBytes));
    } else if (!isEnd || stream.whole !== undefined) {
      (stream.whole ??= new PayloadBuffer()).add(content);
      this.#returnWindow(stream, payload.length);
    }
    if (isEnd) this.#onEndOfStream(stream, stream.whole?.bytes ?? content);
  }

  /** Adds bytes that were read to the stream's window again. */
  #returnWindow(stream: Stream, bytes: number): void {
    stream.unreturned += bytes;
    if (stream.unreturned < STREAM_WINDOW / 2 || !this.#streams.has(stream.id)) return;
    this.#out.numbers(FRAME.window, stream.id, stream.unreturned);
    stream.receiveWindow += stream.unreturned;
    stream.unreturned = 0;
    this.#framing.flush();
  }

  #onHeaders(id: number, isEnd: boolean, block: Uint8Array): void {
    const headers = readHeaders(block);
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    if (stream.headers === undefined) return this.#onResponse(stream, headers, isEnd);
    if (!isEnd) return this.#rejectResponse(stream, "a response has headers after its body that do not end it");
    if (headers !== undefined) return this.#rejectResponse(stream, "the trailers of a response have a status");
    this.#onEndOfStream(stream, stream.whole?.bytes ?? EMPTY);
  }

  #onResponse(stream: Stream, headers: ResponseHeaders | undefined, isEnd: boolean): void {
    if (headers === undefined) return this.#rejectResponse(stream, "a response has no status");
    if (headers.status < 200) {
      // An informational response precedes the final one. HTTP/2 does not have status 101, which
      // switches protocols.
      if (isEnd || headers.status === 101) {
        return this.#rejectResponse(stream, `a response has the status ${headers.status}`);
      }
      if (++stream.informational > MAX_INFORMATIONAL) {
        this.#rejectResponse(stream, `more than ${MAX_INFORMATIONAL} informational responses`);
      }
      return;
    }
    stream.headers = headers;
    if (stream.request.streams) {
      stream.body = new StreamedBody(
        (bytes) => this.#returnWindow(stream, bytes),
        (reason) => this.#cancel(stream.id, reason),
      );
      stream.resolve(streamedResponse(headers, stream.body));
    }
    if (isEnd) this.#onEndOfStream(stream, EMPTY);
  }

  #onEndOfStream(stream: Stream, content: Uint8Array): void {
    const { unsent, body, resolve, reject } = stream;
    const headers = stream.headers!;
    // The server responded before it received the whole request, and does not read the rest.
    if (unsent !== undefined) this.#out.numbers(FRAME.reset, stream.id, CODE.cancel);
    this.#forget(stream);
    if (body !== undefined) return body.end();
    try {
      resolve(wholeResponse(headers, this.#decoder.decode(content)));
    } catch (error) {
      // V8 limits the length of strings. The error must not end the other requests.
      reject(error);
    }
  }

  #onReset(id: number, code: number): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    const message = `the server reset the request (HTTP/2 ${codeName(code)})`;
    // Servers also send PROTOCOL_ERROR when they do not accept a stream, or when their count of
    // streams is wrong. So this connection is not used for further requests.
    if (code === CODE.protocol) this.#isOpen = false;
    const hasResponse = stream.headers !== undefined;
    if (!hasResponse && code === CODE.refused) this.#drop(stream, new NotProcessedError(message));
    else if (!hasResponse && code === CODE.protocol) this.#drop(stream, new UnansweredError(message));
    else this.#drop(stream, new StreamResetError(message));
    this.#onCapacity();
  }

  /** Resets a stream on which the server violated HTTP/2. Other streams continue. */
  #rejectResponse(stream: Stream, message: string, code: number = CODE.protocol): void {
    this.#out.numbers(FRAME.reset, stream.id, code);
    this.#drop(stream, violation(message));
  }

  #onSettings(payload: Uint8Array): void {
    for (let at = 0; at + 6 <= payload.length; at += 6) {
      const id = payload[at]! << 8 | payload[at + 1]!;
      const value = uint32(payload, at + 2);
      if (id === SETTING.tableSize) this.#headers.resize(value);
      else if (id === SETTING.concurrent) this.#maxStreams = value;
      else if (id === SETTING.window) this.#sendWindows.resize(value, this.#streams.values());
    }
    this.#onCapacity();
  }

  #onWindowUpdate(id: number, increment: number): void {
    const stream = this.#streams.get(id);
    if (id === 0) this.#sendWindows.grow(increment);
    else if (stream !== undefined) {
      if (increment === 0) return this.#rejectResponse(stream, "WINDOW_UPDATE has an increment of 0");
      stream.sendWindow += increment;
      if (stream.sendWindow > MAX_WINDOW) {
        return this.#rejectResponse(stream, `a window is larger than ${MAX_WINDOW} bytes`, CODE.flow);
      }
    }
    this.#onCapacity();
  }

  /** Sends the parts of bodies and the queued requests that the server now accepts. */
  #onCapacity(): void {
    for (const stream of this.#streams.values()) this.#sendWindows.send(stream);
    if (!this.isOpen) this.#rejectQueue();
    while (this.#queue.length > 0 && this.#mayOpen(this.#queue.isUrgent)) this.#queue.next()!.begin();
    this.#closeIfDone();
  }

  /** Handles GOAWAY: the server still processes requests up to the last stream, but no others. */
  #onGoAway(payload: Uint8Array): void {
    this.#isOpen = false;
    this.#goAway = readGoAway(payload, this.#goAway);
    const { last } = this.#goAway;
    for (const stream of [...this.#streams.values()]) {
      if (stream.id > last) this.#drop(stream, this.#unavailableError());
    }
    this.#onCapacity();
  }

  /**
   * Returns the error for a request that was not sent. It may be sent on another connection, unless
   * this process closed the connection.
   */
  #unavailableError(): Error {
    if (this.#isClosed) return this.#error!;
    return new NotProcessedError(
      this.#error?.message ?? this.#withGoAway("the server accepts no further requests on this connection"),
    );
  }

  #rejectQueue(): void {
    while (this.#queue.length > 0) this.#queue.next()!.reject(this.#unavailableError());
  }

  #cancel(id: number, reason: unknown): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    this.#out.numbers(FRAME.reset, id, CODE.cancel);
    this.#framing.flush();
    if (id >= this.#receivedBelow) this.#mayBeDead = true;
    // The caller that cancelled the stream already has the reason; other readers see end of stream.
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
    stream.request.signal?.removeEventListener("abort", stream.onAbort);
    if (this.#queue.length > 0) this.#onCapacity();
    else this.#closeIfDone();
  }

  #closeIfDone(): void {
    if (!this.isOpen && this.#streams.size === 0) {
      this.#fail(new Error(this.#withGoAway("the server ended the connection")));
    }
  }

  #fail(error: Error): void {
    if (this.#error !== undefined) return;
    this.#error = error;
    this.#isOpen = false;
    this.#framing.close();
    this.#rejectQueue();
    for (const stream of [...this.#streams.values()]) {
      this.#drop(stream, this.#unsent.includes(stream) ? this.#unavailableError() : error);
    }
    this.#liveness[Symbol.dispose]();
    this.#onEnd?.();
  }
}

function violation(message: string): ProtocolError {
  return new ProtocolError(`the server violated HTTP/2: ${message}`);
}
