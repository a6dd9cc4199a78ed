/** Responses of an API server, reduced to what the client uses. `Response` of `fetch` is one. */

/** A response. Its body is read once, with one of `body`, `json` and `text`. */
export interface Answer {
  /** Whether the status is 200 to 299. */
  readonly ok: boolean;
  /** HTTP status. */
  readonly status: number;
  /** Headers. Names are in lower case. */
  readonly headers: { get(name: string): string | null };
  /** The body as a stream; `null` if there is none, or it was already received whole. */
  readonly body: AnswerBody | null;
  /** Reads the whole body as JSON. */
  json(): Promise<unknown>;
  /** Reads the whole body as a string. */
  text(): Promise<string>;
}

/** A body that is read as it is received. A `ReadableStream` is one. */
export interface AnswerBody {
  /** Returns the reader. */
  getReader(): BodyReader;
  /** Discards the body. */
  cancel(reason?: unknown): Promise<void>;
}

/** Reads a body. */
export interface BodyReader {
  /** Returns the next bytes, or `done` at the end. */
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  /** Discards the rest of the body. */
  cancel(reason?: unknown): Promise<void>;
}

/** Longest response that is read whole, in bytes: the length of V8's longest string. */
export const MAX_RESPONSE_BYTES: number = 2 ** 29 - 24;

/** A response is larger than what is read whole. */
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
 * Longest wait for a `Retry-After` header, in milliseconds. kube-apiserver sends seconds, but a
 * load balancer in front of it may send a day, when the server is back in a minute.
 */
export const MAX_RETRY_AFTER = 120_000;

/**
 * Returns the delay of a response's `Retry-After` header in milliseconds. As in client-go, only 429
 * and 5xx mean "send the same request later".
 */
export function retryAfter(response: Answer): number | undefined {
  if (response.status !== 429 && response.status < 500) return undefined;
  const header = response.headers.get("retry-after");
  return header !== null && /^\d+$/.test(header) ? Math.min(Number(header) * 1000, MAX_RETRY_AFTER) : undefined;
}
