/**
 * The parts of an API server's response that the client uses. The `Response` of `fetch` implements
 * {@linkcode WireResponse}.
 */

/** A response. Its body can be read once, with `body`, `json` or `text`. */
export interface WireResponse {
  /** Whether the status is 200 to 299. */
  readonly ok: boolean;
  /** HTTP status. */
  readonly status: number;
  /** Headers. Names are in lower case. */
  readonly headers: { get(name: string): string | null };
  /** The body as a stream; `null` if there is none, or if it was already received completely. */
  readonly body: WireBody | null;
  /** Reads the whole body as JSON. */
  json(): Promise<unknown>;
  /** Reads the whole body as a string. */
  text(): Promise<string>;
}

/** A body that is read while it arrives. `ReadableStream` implements it. */
export interface WireBody {
  /** Returns the reader. */
  getReader(): WireBodyReader;
  /** Discards the body. */
  cancel(reason?: unknown): Promise<void>;
}

/** Reads a body. */
export interface WireBodyReader {
  /** Returns the next bytes, or `done` at the end. */
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  /** Discards the rest of the body. */
  cancel(reason?: unknown): Promise<void>;
}

/** Longest response that can be read as one string, in bytes: the length of V8's longest string. */
export const MAX_RESPONSE_BYTES: number = 2 ** 29 - 24;

/** A response is too large to be read as one string. */
export class ResponseTooLargeError extends Error {
  override name = "ResponseTooLargeError";
  /** Always `ResponseTooLarge`. */
  readonly code = "ResponseTooLarge";

  /** @param limit Longest response that is accepted, in bytes. */
  constructor(limit: number) {
    super(`the response is larger than ${limit} bytes. Request fewer objects`);
  }
}

/**
 * Longest wait for a `Retry-After` header, in milliseconds. kube-apiserver sends a few seconds, but
 * a load balancer in front of it may send a day, although the server recovers in a minute.
 */
export const MAX_RETRY_AFTER = 120_000;

/**
 * Returns the delay of a response's `Retry-After` header in milliseconds; `undefined` if the
 * request should not be sent again. As in client-go, only 429 and 5xx are retried.
 */
export function retryAfter(response: WireResponse): number | undefined {
  if (response.status !== 429 && response.status < 500) return undefined;
  const header = response.headers.get("retry-after");
  return header !== null && /^\d+$/.test(header) ? Math.min(Number(header) * 1000, MAX_RETRY_AFTER) : undefined;
}
