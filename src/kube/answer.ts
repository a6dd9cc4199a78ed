/** What a server answers, as far as a client looks at it. `fetch`'s `Response` is one. */

/** An answer. Of its body one of three is read, once. */
export interface Answer {
  /** Whether the status is one of success, from 200 to 299. */
  readonly ok: boolean;
  /** HTTP status. */
  readonly status: number;
  /** Headers, by names in lower case. */
  readonly headers: { get(name: string): string | null };
  /** The body as it comes; null where there is none, or where it has come whole already. */
  readonly body: AnswerBody | null;
  /** The body whole, as JSON. */
  json(): Promise<unknown>;
  /** The body whole, as text. */
  text(): Promise<string>;
}

/** A body as it comes, as a `ReadableStream` is. */
export interface AnswerBody {
  /** Begins to read it. */
  getReader(): BodyReader;
  /** Ends it unread. */
  cancel(reason?: unknown): Promise<void>;
}

/** Reads a body. */
export interface BodyReader {
  /** The next bytes; `done` at the end. */
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  /** Ends it where it is. */
  cancel(reason?: unknown): Promise<void>;
}

/** The longest text that there is in V8: so many bytes an answer may have that is read whole. */
export const LONGEST_TEXT: number = 2 ** 29 - 24;

/** An answer is longer than what is read whole. */
export class LongAnswerError extends Error {
  override name = "LongAnswerError";

  constructor(longest: number) {
    super(`the answer has more than ${longest} bytes, which is more than is read at once: ask for less`);
  }
}

/**
 * The longest wait that a `Retry-After` can cause, in milliseconds. kube-apiserver sends seconds; a load balancer in front of it may send a day, and the
 * write of an operator must not wait that long for a server that may be back in a minute.
 */
export const LONGEST_RETRY_AFTER = 120_000;

/** Only these two carry a `Retry-After` that means "the same request, later" (client-go's rule: 429, and 5xx that name a time). */
export function retryAfter(response: Answer): number | undefined {
  if (response.status !== 429 && response.status < 500) return undefined;
  const header = response.headers.get("retry-after");
  return header !== null && /^\d+$/.test(header) ? Math.min(Number(header) * 1000, LONGEST_RETRY_AFTER) : undefined;
}
