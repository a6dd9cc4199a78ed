/** An HTTP/2 server in memory that sends the frames of a test and records those of the client. */
import type { Clock } from "../../base/clock.ts";
import { elapsedOnly } from "../../base/_elapsed_clock.ts";
import { VirtualClock } from "../../base/virtual_clock.ts";
import { Http2Connection, type Http2ConnectionOptions } from "./connection.ts";
import { FLAG, FRAME, FrameReader, FrameWriter } from "./frames.ts";
import type { Duplex } from "./framing.ts";
import type { Http2Request } from "./stream.ts";

/** A header block that contains only status 200. */
export const OK: Uint8Array = Uint8Array.of(0x88);

/** A frame that the client sent. */
export interface SentFrame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Uint8Array;
}

/** Options of {@linkcode Peer}. */
export interface PeerOptions extends Partial<Http2ConnectionOptions> {
  /** @default {a new virtual clock} */
  readonly clock?: Clock;
  /** Whether the server starts with a SETTINGS frame. @default {true} */
  readonly sendsSettings?: boolean;
}

/** The server's end of a connection, and the client's {@linkcode Http2Connection}. */
export class Peer {
  /** The client's end. */
  readonly connection: Http2Connection;
  /** Frames of the client, without the acknowledgment of the server's first SETTINGS. */
  readonly frames: SentFrame[] = [];
  isClosed = false;
  readonly #reader = new FrameReader();
  /** Bytes that the client has not read yet. */
  readonly #outgoing: Uint8Array[] = [];
  /** Bytes of the connection preface that are still to be skipped. */
  #preface = 24;
  #expectedAcks: number;
  #isBlocked = false;
  #end: { readonly error: Error | undefined } | undefined;
  #onOutgoing = (): void => {};
  #onFrames: (() => void)[] = [];

  constructor({ sendsSettings = true, clock = new VirtualClock(), ...options }: PeerOptions = {}) {
    this.#expectedAcks = sendsSettings ? 1 : 0;
    if (sendsSettings) this.send((out) => out.settings([]));
    const duplex: Duplex = {
      read: (into) => this.#read(into),
      write: (bytes) => this.#write(bytes),
      close: () => {
        this.isClosed = true;
        this.#onOutgoing();
      },
    };
    this.connection = new Http2Connection(duplex, { ...options, clock: elapsedOnly(clock) });
  }

  /** Waits for a number of frames from the client, and returns them. */
  async sent(count: number): Promise<SentFrame[]> {
    while (this.frames.length < count) await this.#nextFrames();
    return this.frames.slice(0, count);
  }

  /** Waits for a frame of a type on a stream, and returns the first one. */
  async firstFrame(type: number, stream: number): Promise<SentFrame> {
    for (;;) {
      const found = this.frames.find((frame) => frame.type === type && frame.stream === stream);
      if (found !== undefined) return found;
      await this.#nextFrames();
    }
  }

  /** Sends frames, in chunks of `size` bytes. */
  send(write: (out: FrameWriter) => void, size = 1 << 20): void {
    const out = new FrameWriter();
    write(out);
    this.sendBytes(out.take().slice(), size);
  }

  /** Sends bytes, in chunks of `size` bytes. */
  sendBytes(bytes: Uint8Array, size = 1 << 20): void {
    for (let at = 0; at < bytes.length; at += size) this.#outgoing.push(bytes.subarray(at, at + size));
    this.#onOutgoing();
  }

  /** Stops reading: further writes of the client never complete. */
  block(): void {
    this.#isBlocked = true;
  }

  /** Ends the connection after the bytes that were sent, with an error if one is given. */
  end(error?: Error): void {
    this.#end = { error };
    this.#onOutgoing();
  }

  #nextFrames(): Promise<void> {
    return new Promise((resolve) => this.#onFrames.push(resolve));
  }

  async #read(into: Uint8Array): Promise<number | null> {
    while (this.#outgoing.length === 0 && this.#end === undefined && !this.isClosed) {
      await new Promise<void>((resolve) => this.#onOutgoing = resolve);
    }
    if (this.isClosed) throw new Deno.errors.BadResource("closed");
    const next = this.#outgoing.shift();
    if (next === undefined && this.#end?.error !== undefined) throw this.#end.error;
    if (next === undefined) return null;
    const count = Math.min(next.length, into.length);
    into.set(next.subarray(0, count));
    if (count < next.length) this.#outgoing.unshift(next.subarray(count));
    return count;
  }

  #write(bytes: Uint8Array): Promise<number> {
    if (this.#isBlocked) return new Promise(() => {});
    const rest = bytes.subarray(Math.min(this.#preface, bytes.length));
    this.#preface -= bytes.length - rest.length;
    for (let at = 0; at < rest.length; at += 1000) {
      const part = rest.subarray(at, at + 1000);
      this.#reader.buffer.set(part);
      this.#reader.read(part.length, (frame) => {
        if (this.#expectedAcks > 0 && frame.type === FRAME.settings && frame.flags & FLAG.ack) this.#expectedAcks--;
        else this.frames.push({ ...frame, payload: frame.payload.slice() });
      });
    }
    const waiting = this.#onFrames;
    this.#onFrames = [];
    for (const resolve of waiting) resolve();
    return Promise.resolve(bytes.length);
  }
}

/** Returns a request. */
export function request(parts: Partial<Http2Request> = {}): Http2Request {
  const defaults = {
    method: "GET",
    authority: "cluster",
    path: "/x",
    headers: {},
    body: null,
    signal: null,
    streams: false,
  };
  return { ...defaults, ...parts };
}

/** Writes a GOAWAY frame. */
export function goAway(out: FrameWriter, last: number, code: number, debugData = ""): void {
  const numbers = [last, code].flatMap((number) => [24, 16, 8, 0].map((shift) => number >>> shift & 255));
  out.frame(FRAME.goAway, 0, 0, Uint8Array.of(...numbers, ...bytes(debugData)));
}

/** Writes a response without a body. */
export function respond(out: FrameWriter, stream: number, block: Uint8Array = OK): void {
  out.frame(FRAME.headers, FLAG.endHeaders | FLAG.end, stream, block);
}

/** Returns the UTF-8 bytes of a string. */
export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Returns a string from its UTF-8 bytes. */
export function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** Names of the static table entries that {@linkcode HeaderWriter} uses (RFC 7541, appendix A). */
const STATIC_NAMES: Readonly<Record<number, string>> = {
  1: ":authority",
  2: ":method",
  4: ":path",
  16: "accept-encoding",
  19: "accept",
  23: "authorization",
  28: "content-length",
  31: "content-type",
  58: "user-agent",
};

const STATIC_HEADERS: Readonly<Record<number, [string, string]>> = {
  2: [":method", "GET"],
  3: [":method", "POST"],
  7: [":scheme", "https"],
};

/**
 * The server's decoder of request headers with its dynamic table (RFC 7541), without Huffman code.
 */
export class ServerTable {
  /** Entries of the dynamic table, newest first. */
  readonly entries: [name: string, value: string][] = [];
  /** Dynamic table size updates that the client sent. */
  readonly sizes: number[] = [];
  readonly #limit: number;
  #block: Uint8Array = new Uint8Array();
  #at = 0;

  /** @param limit Size of the dynamic table in bytes. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Decodes a header block. */
  read(block: Uint8Array): [name: string, value: string][] {
    this.#block = block;
    this.#at = 0;
    const headers: [string, string][] = [];
    while (this.#at < block.length) {
      const first = block[this.#at]!;
      if (first & 0x80) {
        const index = this.#number(7);
        const header = STATIC_HEADERS[index] ?? this.entries[index - 62];
        if (header === undefined) throw new Error(`header ${index} does not exist`);
        headers.push(header);
      } else if ((first & 0xe0) === 0x20) {
        this.sizes.push(this.#number(5));
        this.entries.length = 0;
      } else {
        const index = this.#number(first & 0x40 ? 6 : 4);
        const header: [string, string] = [index === 0 ? this.#string() : STATIC_NAMES[index]!, this.#string()];
        headers.push(header);
        if (first & 0x40) this.#add(header);
      }
    }
    return headers;
  }

  #add(header: [string, string]): void {
    this.entries.unshift(header);
    const size = (): number => this.entries.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0);
    while (size() > this.#limit) this.entries.pop();
    if (this.entries.length === 0) throw new Error("an entry is larger than the table");
  }

  #number(bits: number): number {
    const max = 2 ** bits - 1;
    let value = this.#block[this.#at++]! & max;
    if (value < max) return value;
    for (let shift = 0;; shift += 7) {
      value += (this.#block[this.#at]! & 127) << shift;
      if (this.#block[this.#at++]! < 128) return value;
    }
  }

  #string(): string {
    const length = this.#number(7);
    return new TextDecoder().decode(this.#block.subarray(this.#at, this.#at += length));
  }
}
