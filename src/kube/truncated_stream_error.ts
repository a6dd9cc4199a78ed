/** A stream of the API server that ended too early. */

/** The response to a watch ended in the middle of an event, or before the initial list was complete. */
export class TruncatedStreamError extends Error {
  override name = "TruncatedStreamError";
  /** Always `TruncatedStream`. */
  readonly code = "TruncatedStream";
}
