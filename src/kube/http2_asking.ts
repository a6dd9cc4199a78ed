/** What an HTTP/2 connection is asked, and what it is made of. */

/** What a connection is made of: a TLS connection, or a test's. */
export interface Duplex {
  read(into: Uint8Array): Promise<number | null>;
  write(bytes: Uint8Array): Promise<number>;
  close(): void;
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
}

/** The server did not look at a request: it may be sent again, on another connection. */
export class NotProcessedError extends Error {
  override name = "NotProcessedError";
}
