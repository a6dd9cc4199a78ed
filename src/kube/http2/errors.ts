/** Errors of HTTP/2 connections. Their class decides which requests may be sent again. */

/** The server did not process the request, so it may be sent again, even if it is a write. */
export class NotProcessedError extends Error {
  override name = "NotProcessedError";
  /** Always `NotProcessed`. */
  readonly code = "NotProcessed";
}

/**
 * The connection ended before the response. The server may have processed the request, so only a
 * read may be sent again.
 */
export class UnansweredError extends Error {
  override name = "UnansweredError";
  /** Always `Unanswered`. */
  readonly code = "Unanswered";
}

/** The server violated HTTP/2. */
export class ProtocolError extends Error {
  override name = "ProtocolError";
  /** Always `Http2Protocol`. */
  readonly code = "Http2Protocol";
}

/** The server reset a stream after it had started to process the request. */
export class StreamResetError extends Error {
  override name = "StreamResetError";
  /** Always `StreamReset`. */
  readonly code = "StreamReset";
}

/** The connection was closed by this process. */
export class ConnectionClosedError extends Error {
  override name = "ConnectionClosedError";
  /** Always `ConnectionClosed`. */
  readonly code = "ConnectionClosed";

  constructor() {
    super("the connection was closed by this process");
  }
}
