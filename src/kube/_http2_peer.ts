/** A server of HTTP/2 that says what a test says, and keeps what it was sent. */
import type { Clock } from "../base/clock.ts";
import { untold } from "../base/_untold_clock.ts";
import { VirtualClock } from "../base/virtual_clock.ts";
import { Http2 } from "./http2.ts";
import type { Asking, Http2Options } from "./http2_asking.ts";
import { FLAG, FRAME, FrameReader, FrameWriter } from "./http2_frames.ts";

/** A header block that says 200. */
export const OK: Uint8Array = Uint8Array.of(0x88);

/** A frame that the server was sent. */
export interface Sent {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Uint8Array;
}

/** Both ends of a connection. */
export interface Peer {
  readonly http2: Http2;
  /** What the server was sent, but for the answer to its first settings. */
  readonly frames: readonly Sent[];
  readonly isClosed: boolean;
  /** The first frames, when so many have come. */
  sent(count: number): Promise<Sent[]>;
  /** The first frame of a type on a stream, when it has come. */
  got(type: number, stream: number): Promise<Sent>;
  /** Sends frames, so many bytes at a time. */
  send(write: (out: FrameWriter) => void, size?: number): void;
  /** Takes nothing any more that it is sent. */
  block(): void;
  /** Closes the connection: with an error where one is given. */
  end(error?: Error): void;
}

/** Opens a connection. The server tells its settings, unless it is to say nothing by itself. */
export function peerOf(
  options: Partial<Http2Options> & { readonly clock?: Clock; readonly greets?: boolean } = {},
): Peer {
  const { greets = true, ...given } = options;
  const frames: Sent[] = [];
  const reader = new FrameReader();
  const incoming: Uint8Array[] = [];
  let skip = 24;
  let acks = greets ? 1 : 0;
  let isClosed = false;
  let isBlocked = false;
  let ended: { readonly error: Error | undefined } | undefined;
  let wake = (): void => {};
  let waiting: (() => void)[] = [];
  const changed = (): Promise<void> => new Promise((resolve) => waiting.push(resolve));
  const send: Peer["send"] = (write, size = 1 << 20) => {
    const out = new FrameWriter();
    write(out);
    const all = out.take().slice();
    for (let at = 0; at < all.length; at += size) incoming.push(all.subarray(at, at + size));
    wake();
  };
  const keep = (frame: Sent): void => {
    if (acks > 0 && frame.type === FRAME.settings && frame.flags & FLAG.ack) acks--;
    else frames.push({ ...frame, payload: frame.payload.slice() });
  };
  if (greets) send((out) => out.settings([]));
  const http2 = new Http2({
    async read(into) {
      while (incoming.length === 0 && ended === undefined && !isClosed) {
        await new Promise<void>((resolve) => wake = resolve);
      }
      if (isClosed) throw new Deno.errors.BadResource("closed");
      const next = incoming.shift();
      if (next === undefined && ended?.error !== undefined) throw ended.error;
      if (next === undefined) return null;
      const count = Math.min(next.length, into.length);
      into.set(next.subarray(0, count));
      if (count < next.length) incoming.unshift(next.subarray(count));
      return count;
    },
    write(sent) {
      if (isBlocked) return new Promise(() => {});
      const rest = sent.subarray(Math.min(skip, sent.length));
      skip -= sent.length - rest.length;
      for (let at = 0; at < rest.length; at += 1000) {
        const part = rest.subarray(at, at + 1000);
        reader.room.set(part);
        reader.read(part.length, keep);
      }
      const told = waiting;
      waiting = [];
      for (const tell of told) tell();
      return Promise.resolve(sent.length);
    },
    close() {
      isClosed = true;
      wake();
    },
  }, { ...given, clock: untold(given.clock ?? new VirtualClock()) });
  return {
    http2,
    frames,
    get isClosed() {
      return isClosed;
    },
    async sent(count) {
      while (frames.length < count) await changed();
      return frames.slice(0, count);
    },
    async got(type, stream) {
      for (;;) {
        const found = frames.find((frame) => frame.type === type && frame.stream === stream);
        if (found !== undefined) return found;
        await changed();
      }
    },
    send,
    block: () => void (isBlocked = true),
    end(error) {
      ended = { error };
      wake();
    },
  };
}

/** A request. */
export function asking(parts: Partial<Asking> = {}): Asking {
  const given = {
    method: "GET",
    authority: "cluster",
    path: "/x",
    headers: {},
    body: null,
    signal: null,
    streams: false,
  };
  return { ...given, ...parts };
}

/** A frame of GOAWAY. */
export function goodbye(out: FrameWriter, last: number, code: number, text = ""): void {
  const numbers = [last, code].flatMap((number) => [24, 16, 8, 0].map((shift) => number >>> shift & 255));
  out.frame(FRAME.goAway, 0, 0, Uint8Array.of(...numbers, ...bytes(text)));
}

/** Headers alone: an answer without a body. */
export function answer(out: FrameWriter, stream: number, block: Uint8Array = OK): void {
  out.frame(FRAME.headers, FLAG.endHeaders | FLAG.end, stream, block);
}

export function bytes(of: string): Uint8Array {
  return new TextEncoder().encode(of);
}

export function text(of: Uint8Array): string {
  return new TextDecoder().decode(of);
}
