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
}

/** The server did not look at a request: it may be sent again, on another connection. */
export class NotProcessedError extends Error {
  override name = "NotProcessedError";
}
