/** Why a server ends a stream or a connection of HTTP/2, in words (RFC 9113, section 7). */
import { four } from "./http2_frames.ts";

const NAMES = [
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
// As much of a server's text as fits a line of a log.
const LONGEST_TEXT = 200;

/** A code as people know it. */
export function nameOfCode(code: number): string {
  return NAMES[code] ?? `code ${code}`;
}

/** What a server says when it takes no more requests. */
export interface Goodbye {
  /** The last stream that it looks at. */
  readonly last: number;
  readonly code: number;
  /** Why, in a line. */
  readonly told: string;
}

/**
 * Reads a GOAWAY frame.
 *
 * @param payload What it carries.
 * @param before What the server said before: a server that closes in peace says it twice, one in trouble says why once.
 */
export function readGoodbye(payload: Uint8Array, before: Goodbye | undefined): Goodbye {
  const last = four(payload, 0) & 0x7fffffff;
  const code = four(payload, 4);
  if (before !== undefined && before.code !== 0) return { ...before, last };
  const text = printable(payload.subarray(8, 8 + LONGEST_TEXT));
  return { last, code, told: nameOfCode(code) + (text === "" ? "" : ` (${text})`) };
}

/** A text in quotes, without anything that a terminal obeys. */
function printable(bytes: Uint8Array): string {
  if (bytes.length === 0) return "";
  return JSON.stringify(new TextDecoder().decode(bytes).replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, " ").trim());
}
