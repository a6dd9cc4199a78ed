/** Frames of HTTP/2 (RFC 9113): how they are written, many at a time, and read. */

/** Types of frames. */
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

/** Flags: the first stands for the end of a stream, or for an answer to SETTINGS and PING. */
export const FLAG = { end: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const;

/** Settings that count for a client. */
export const SETTING = { tableSize: 1, push: 2, concurrent: 3, window: 4, headerList: 6 } as const;

/** Why a stream or a connection ends. */
export const CODE = { none: 0, protocol: 1, flow: 3, frameSize: 6, refused: 7, cancel: 8 } as const;

/** The longest frame that may be sent, and that is taken: the size which both sides have without a word. */
export const LONGEST_FRAME = 16384;
const HEAD = 9;

/** Frames on their way to the server. What is written while others are sent goes together, after them. */
export class FrameWriter {
  #bytes = new Uint8Array(8192);
  #spare = new Uint8Array(8192);
  #length = 0;

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** All that was written. It is good until what is taken next was sent. */
  take(): Uint8Array {
    const all = this.#bytes.subarray(0, this.#length);
    [this.#bytes, this.#spare] = [this.#spare, this.#bytes];
    this.#length = 0;
    return all;
  }

  /** Writes bytes as they are. */
  raw(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  frame(type: number, flags: number, stream: number, payload: Uint8Array): void {
    this.#head(payload.length, type, flags, stream);
    this.raw(payload);
  }

  /** A frame whose payload is numbers of four bytes each. */
  numbers(type: number, stream: number, ...numbers: readonly number[]): void {
    this.#head(numbers.length * 4, type, 0, stream);
    for (const number of numbers) this.#four(number);
  }

  settings(settings: readonly (readonly [id: number, value: number])[]): void {
    this.#head(settings.length * 6, FRAME.settings, 0, 0);
    for (const [id, value] of settings) {
      this.#bytes[this.#length++] = id >>> 8;
      this.#bytes[this.#length++] = id;
      this.#four(value);
    }
  }

  /** A header block, in as many frames as it takes. */
  headers(stream: number, block: Uint8Array, isEnd: boolean): void {
    for (let at = 0; at === 0 || at < block.length; at += LONGEST_FRAME) {
      const flags = (at === 0 && isEnd ? FLAG.end : 0) | (at + LONGEST_FRAME >= block.length ? FLAG.endHeaders : 0);
      const type = at === 0 ? FRAME.headers : FRAME.continuation;
      this.frame(type, flags, stream, block.subarray(at, at + LONGEST_FRAME));
    }
  }

  #head(length: number, type: number, flags: number, stream: number): void {
    this.#room(HEAD + length);
    const bytes = this.#bytes;
    bytes[this.#length++] = length >>> 16;
    bytes[this.#length++] = length >>> 8;
    bytes[this.#length++] = length;
    bytes[this.#length++] = type;
    bytes[this.#length++] = flags;
    this.#four(stream);
  }

  #four(number: number): void {
    const bytes = this.#bytes;
    bytes[this.#length++] = number >>> 24;
    bytes[this.#length++] = number >>> 16;
    bytes[this.#length++] = number >>> 8;
    bytes[this.#length++] = number;
  }

  #room(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    const larger = new Uint8Array((this.#length + bytes) * 2);
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}

/** A frame as it came. Its payload is good until the next ones are read. */
export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Uint8Array;
}

/** Breaks what comes into frames. */
export class FrameReader {
  // Room for several: what came together is read together.
  readonly #bytes = new Uint8Array(4 * (HEAD + LONGEST_FRAME));
  #length = 0;

  /** Where the next bytes are to be put. */
  get room(): Uint8Array {
    return this.#bytes.subarray(this.#length);
  }

  /**
   * Tells of each frame that is whole.
   *
   * @param count How many bytes were put into the room.
   * @param take Takes a frame.
   * @throws {RangeError} If one is longer than it may be.
   */
  read(count: number, take: (frame: Frame) => void): void {
    const bytes = this.#bytes;
    const end = this.#length + count;
    let at = 0;
    while (end - at >= HEAD) {
      const length = bytes[at]! << 16 | bytes[at + 1]! << 8 | bytes[at + 2]!;
      if (length > LONGEST_FRAME) throw new RangeError(`a frame has ${length} bytes`);
      if (end - at < HEAD + length) break;
      const stream = four(bytes, at + 5) & 0x7fffffff;
      const payload = bytes.subarray(at + HEAD, at + HEAD + length);
      take({ type: bytes[at + 3]!, flags: bytes[at + 4]!, stream, payload });
      at += HEAD + length;
    }
    bytes.copyWithin(0, at, end);
    this.#length = end - at;
  }
}

/** What a frame of DATA or HEADERS carries, without what fills it up. */
export function contentOf({ type, flags, payload }: Frame): Uint8Array {
  let start = 0;
  let end = payload.length;
  if (flags & FLAG.padded) {
    start = 1;
    end -= payload[0] ?? 0;
  }
  if (type === FRAME.headers && flags & FLAG.priority) start += 5;
  if (start > end) throw new RangeError("a frame is filled up beyond its length");
  return payload.subarray(start, end);
}

/** The number in four bytes, as it stands there. */
export function four(bytes: Uint8Array, at: number): number {
  if (at + 4 > bytes.length) throw new RangeError("a frame is too short");
  return (bytes[at]! << 24 | bytes[at + 1]! << 16 | bytes[at + 2]! << 8 | bytes[at + 3]!) >>> 0;
}
