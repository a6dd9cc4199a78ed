/** What an HTTP/2 connection is asked, and what it is made of. */
import type { Clock } from "../base/clock.ts";

/** What a connection is made of: a TLS connection, or a test's. */
export interface Duplex {
  read(into: Uint8Array): Promise<number | null>;
  write(bytes: Uint8Array): Promise<number>;
  close(): void;
}

/** What a connection needs from outside. */
export interface Http2Options {
  readonly clock: Clock;
  /** Told when it is over, however it ended. */
  readonly onGone?: () => void;
  /** How many requests the server takes at once, as far as is known before it says so. @default {100} */
  readonly mostStreams?: number;
  /** How many bytes an answer may have that is read whole. @default {536_870_888} */
  readonly longestAnswer?: number;
}

/** A request as it goes over a connection. */
export interface Asking {
  readonly method: string;
  readonly authority: string;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly signal: AbortSignal | null;
  /** Whether the answer is read as it comes. */
  readonly streams: boolean;
  /** Whether it goes before those that wait until the server takes more at once. @default {false} */
  readonly isUrgent?: boolean;
  /** Called right before it is sent: what it throws ends it as a {@linkcode FencedError}, and nothing is sent. */
  readonly fence?: (() => void) | undefined;
}

/** The server did not look at a request: it may be sent again, whatever it asks for. */
export class NotProcessedError extends Error {
  override name = "NotProcessedError";
}

/** The connection ended before the answer, and nobody knows whether the server looked at the request: what only reads may be sent again. */
export class UnansweredError extends Error {
  override name = "UnansweredError";
}
