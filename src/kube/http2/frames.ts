/** Frames of HTTP/2 (RFC 9113, sections 4, 6 and 7): writing, reading, validation. */
import { ProtocolError } from "./errors.ts";

/** Frame types. */
export const FRAME = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goAway: 7,
  window: 8,
  continuation: 9,
} as const;

/** Flags. `end` (of DATA and HEADERS) and `ack` (of SETTINGS and PING) are the same bit. */
export const FLAG = { end: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const;

/** Settings that a client sends or reads. */
export const SETTING = { tableSize: 1, push: 2, concurrent: 3, window: 4, headerList: 6 } as const;

/** Error codes that the client sends or compares. */
export const CODE = { none: 0, protocol: 1, flow: 3, frameSize: 6, refused: 7, cancel: 8 } as const;

/** Names of all error codes, by number (RFC 9113, section 7). */
const CODE_NAMES = [
  "NO_ERROR",
  "PROTOCOL_ERROR",
  "INTERNAL_ERROR",
  "FLOW_CONTROL_ERROR",
  "SETTINGS_TIMEOUT",
  "STREAM_CLOSED",
  "FRAME_SIZE_ERROR",
  "REFUSED_STREAM",
  "CANCEL",
  "COMPRESSION_ERROR",
  "CONNECT_ERROR",
  "ENHANCE_YOUR_CALM",
  "INADEQUATE_SECURITY",
  "HTTP_1_1_REQUIRED",
];

/**
 * Longest frame payload, in bytes: the default of SETTINGS_MAX_FRAME_SIZE, which neither side
 * changes.
 */
export const MAX_FRAME_SIZE = 16384;
const HEADER_SIZE = 9;
/** Bytes of GOAWAY debug data that an error message quotes. */
const MAX_DEBUG_DATA = 200;

/**
 * Buffers outgoing frames. Frames that are written while others are being sent are sent together
 * after them.
 */
export class FrameWriter {
  #bytes = new Uint8Array(8192);
  #spare = new Uint8Array(8192);
  #length = 0;

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** Number of buffered bytes. */
  get length(): number {
    return this.#length;
  }

  /**
   * Removes and returns all buffered bytes. They are valid until the bytes of the next call have
   * been sent.
   */
  take(): Uint8Array {
    const all = this.#bytes.subarray(0, this.#length);
    [this.#bytes, this.#spare] = [this.#spare, this.#bytes];
    this.#length = 0;
    return all;
  }

  /** Writes bytes without a frame header. */
  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  frame(type: number, flags: number, stream: number, payload: Uint8Array): void {
    this.#header(payload.length, type, flags, stream);
    this.raw(payload);
  }

  /** Writes a frame whose payload is a list of 32-bit numbers. */
  numbers(type: number, stream: number, ...numbers: readonly number[]): void {
    this.#header(numbers.length * 4, type, 0, stream);
    for (const number of numbers) this.#uint32(number);
  }

  settings(settings: readonly (readonly [id: number, value: number])[]): void {
    this.#header(settings.length * 6, FRAME.settings, 0, 0);
    for (const [id, value] of settings) {
      this.#bytes[this.#length++] = id >>> 8;
      this.#bytes[this.#length++] = id;
      this.#uint32(value);
    }
  }

  /** Writes a header block as one HEADERS frame and as many CONTINUATION frames as it needs. */
  headers(stream: number, block: Uint8Array, isEnd: boolean): void {
    for (let at = 0; at === 0 || at < block.length; at += MAX_FRAME_SIZE) {
      const flags = (at === 0 && isEnd ? FLAG.end : 0) | (at + MAX_FRAME_SIZE >= block.length ? FLAG.endHeaders : 0);
      const type = at === 0 ? FRAME.headers : FRAME.continuation;
      this.frame(type, flags, stream, block.subarray(at, at + MAX_FRAME_SIZE));
    }
  }

  #header(length: number, type: number, flags: number, stream: number): void {
    this.#reserve(HEADER_SIZE + length);
    const bytes = this.#bytes;
    bytes[this.#length++] = length >>> 16;
    bytes[this.#length++] = length >>> 8;
    bytes[this.#length++] = length;
    bytes[this.#length++] = type;
    bytes[this.#length++] = flags;
    this.#uint32(stream);
  }

  #uint32(number: number): void {
    const bytes = this.#bytes;
    bytes[this.#length++] = number >>> 24;
    bytes[this.#length++] = number >>> 16;
    bytes[this.#length++] = number >>> 8;
    bytes[this.#length++] = number;
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    const larger = new Uint8Array((this.#length + bytes) * 2);
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}

/** A received frame. Its payload is valid until the next bytes are read. */
export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Uint8Array;
}

/** Splits received bytes into frames. */
export class FrameReader {
  // Fits four frames of the largest size, so that one read can return several.
  readonly #bytes = new Uint8Array(4 * (HEADER_SIZE + MAX_FRAME_SIZE));
  #length = 0;

  /** The free part of the buffer. Received bytes are written to its start. */
  get buffer(): Uint8Array {
    return this.#bytes.subarray(this.#length);
  }

  /**
   * Calls back for each complete frame.
   *
   * @param count Number of bytes that were written to the {@linkcode FrameReader.buffer}.
   * @param onFrame Called for each frame.
   * @throws {ProtocolError} If a frame is larger than {@linkcode MAX_FRAME_SIZE}.
   */
  read(count: number, onFrame: (frame: Frame) => void): void {
    const bytes = this.#bytes;
    const end = this.#length + count;
    let at = 0;
    while (end - at >= HEADER_SIZE) {
      const length = bytes[at]! << 16 | bytes[at + 1]! << 8 | bytes[at + 2]!;
      if (length > MAX_FRAME_SIZE) {
        throw new ProtocolError(`a frame has ${length} bytes, more than the allowed ${MAX_FRAME_SIZE}`);
      }
      if (end - at < HEADER_SIZE + length) break;
      const stream = uint32(bytes, at + 5) & 0x7fffffff;
      const payload = bytes.subarray(at + HEADER_SIZE, at + HEADER_SIZE + length);
      onFrame({ type: bytes[at + 3]!, flags: bytes[at + 4]!, stream, payload });
      at += HEADER_SIZE + length;
    }
    bytes.copyWithin(0, at, end);
    this.#length = end - at;
  }
}

/**
 * Collects the payloads of several frames in one growing buffer, which uses little memory even if
 * there are many small payloads.
 */
export class PayloadBuffer {
  readonly #initialSize: number;
  #bytes: Uint8Array = new Uint8Array();
  #length = 0;

  /** @param initialSize Size of the buffer once something is added, in bytes. */
  constructor(initialSize = 32_768) {
    this.#initialSize = initialSize;
  }

  get length(): number {
    return this.#length;
  }

  /** The collected bytes. They are valid until more are added. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Adds a copy of a payload. */
  add(payload: Uint8Array): void {
    const length = this.#length + payload.length;
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(length, this.#bytes.length * 2, this.#initialSize));
      larger.set(this.bytes);
      this.#bytes = larger;
    }
    this.#bytes.set(payload, this.#length);
    this.#length = length;
  }
}

/**
 * Rejects a frame that is invalid in every stream state (RFC 9113, section 6).
 *
 * @param frame The frame.
 * @param nextStream The stream that the client opens next. Frames must refer to an earlier one.
 * @throws {ProtocolError} If its length or its stream is invalid.
 */
export function rejectInvalidFrame({ type, flags, stream, payload }: Frame, nextStream: number): void {
  const { length } = payload;
  switch (type) {
    case FRAME.data:
    case FRAME.headers:
    case FRAME.continuation:
      return rejectUnopenedStream(stream, nextStream);
    case FRAME.reset:
      if (length !== 4) throw new ProtocolError(`RST_STREAM has ${length} bytes instead of 4`);
      return rejectUnopenedStream(stream, nextStream);
    case FRAME.window:
      if (length !== 4) throw new ProtocolError(`WINDOW_UPDATE has ${length} bytes instead of 4`);
      if (stream !== 0) rejectUnopenedStream(stream, nextStream);
      return;
    case FRAME.settings:
      if (length % 6 !== 0 || flags & FLAG.ack && length > 0) {
        throw new ProtocolError(`SETTINGS has an invalid length of ${length} bytes`);
      }
      return rejectNonzeroStream(stream, "SETTINGS");
    case FRAME.ping:
      if (length !== 8) throw new ProtocolError(`PING has ${length} bytes instead of 8`);
      return rejectNonzeroStream(stream, "PING");
    case FRAME.goAway:
      if (length < 8) throw new ProtocolError(`GOAWAY has ${length} bytes instead of at least 8`);
      return rejectNonzeroStream(stream, "GOAWAY");
    case FRAME.push:
      throw new ProtocolError("PUSH_PROMISE was sent although push is disabled");
  }
}

/** Streams of the client have odd numbers. */
function rejectUnopenedStream(stream: number, nextStream: number): void {
  if (stream % 2 === 0 || stream >= nextStream) {
    throw new ProtocolError(`a frame refers to stream ${stream}, which the client has not opened`);
  }
}

function rejectNonzeroStream(stream: number, name: string): void {
  if (stream !== 0) throw new ProtocolError(`${name} was sent on stream ${stream} instead of stream 0`);
}

/**
 * Returns the content of a DATA or HEADERS frame, without padding and priority.
 *
 * @throws {ProtocolError} If the padding is longer than the frame.
 */
export function contentOf({ type, flags, payload }: Frame): Uint8Array {
  let start = 0;
  let end = payload.length;
  if (flags & FLAG.padded) {
    start = 1;
    end -= payload[0] ?? 0;
  }
  if (type === FRAME.headers && flags & FLAG.priority) start += 5;
  if (start > end) throw new ProtocolError("the padding of a frame is longer than the frame");
  return payload.subarray(start, end);
}

/**
 * Reads a 32-bit number in network byte order.
 *
 * @throws {ProtocolError} If fewer than four bytes are left.
 */
export function uint32(bytes: Uint8Array, at: number): number {
  if (at + 4 > bytes.length) throw new ProtocolError("a frame is too short");
  return (bytes[at]! << 24 | bytes[at + 1]! << 16 | bytes[at + 2]! << 8 | bytes[at + 3]!) >>> 0;
}

/** Returns the name of an error code, such as `REFUSED_STREAM`. */
export function codeName(code: number): string {
  return CODE_NAMES[code] ?? `code ${code}`;
}

/** The content of a GOAWAY frame. */
export interface GoAway {
  /** The last stream that the server processes. */
  readonly last: number;
  readonly code: number;
  /** The name of the code and the debug data, in one line. */
  readonly reason: string;
}

/**
 * Reads a GOAWAY frame.
 *
 * @param payload The frame's payload.
 * @param before The GOAWAY before this one, if any. A server that shuts down sends it twice. If the
 * first had an error code, its reason is retained.
 */
export function readGoAway(payload: Uint8Array, before: GoAway | undefined): GoAway {
  const last = uint32(payload, 0) & 0x7fffffff;
  const code = uint32(payload, 4);
  if (before !== undefined && before.code !== 0) return { ...before, last };
  const debugData = printable(payload.subarray(8, 8 + MAX_DEBUG_DATA));
  return { last, code, reason: codeName(code) + (debugData === "" ? "" : ` (${debugData})`) };
}

/** Returns a quoted string without control characters, which a terminal would interpret. */
function printable(bytes: Uint8Array): string {
  if (bytes.length === 0) return "";
  return JSON.stringify(new TextDecoder().decode(bytes).replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, " ").trim());
}
