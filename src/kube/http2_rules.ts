/** What every frame of HTTP/2 has to keep to, whatever it says (RFC 9113, section 6). */
import { FLAG, FRAME, type Frame } from "./http2_frames.ts";

/**
 * Refuses a frame that no server may send.
 *
 * @param frame The frame.
 * @param next The stream that we open next: what it speaks of must be older.
 * @throws {RangeError} If its length or its stream is wrong.
 */
export function refuseBrokenFrame({ type, flags, stream, payload }: Frame, next: number): void {
  const { length } = payload;
  switch (type) {
    case FRAME.data:
    case FRAME.headers:
    case FRAME.continuation:
      return refuseStream(stream, next);
    case FRAME.reset:
      if (length !== 4) throw new RangeError(`a reset has ${length} bytes`);
      return refuseStream(stream, next);
    case FRAME.window:
      if (length !== 4) throw new RangeError(`an update of a window has ${length} bytes`);
      if (stream !== 0) refuseStream(stream, next);
      return;
    case FRAME.settings:
      if (length % 6 !== 0 || flags & FLAG.ack && length > 0) throw new RangeError(`settings have ${length} bytes`);
      return refuseOther(stream);
    case FRAME.ping:
      if (length !== 8) throw new RangeError(`a ping has ${length} bytes`);
      return refuseOther(stream);
    case FRAME.goAway:
      if (length < 8) throw new RangeError(`a goodbye has ${length} bytes`);
      return refuseOther(stream);
    case FRAME.push:
      throw new RangeError("it pushes what nobody asked for");
  }
}

/** A stream that we opened: ours have odd numbers. */
function refuseStream(stream: number, next: number): void {
  if (stream % 2 === 0 || stream >= next) throw new RangeError(`nothing was asked as stream ${stream}`);
}

function refuseOther(stream: number): void {
  if (stream !== 0) throw new RangeError(`what is meant for the connection is sent as stream ${stream}`);
}
