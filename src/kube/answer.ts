/** What a server answers, as far as a client looks at it. `fetch`'s `Response` is one. */

/** An answer. Of its body one of three is read, once. */
export interface Answer {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  /** The body as it comes; null where there is none, or where it has come whole already. */
  readonly body: AnswerBody | null;
  json(): Promise<unknown>;
  text(): Promise<string>;
}

/** A body as it comes, as a `ReadableStream` is. */
export interface AnswerBody {
  getReader(): BodyReader;
  cancel(reason?: unknown): Promise<void>;
}

/** Reads a body. */
export interface BodyReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
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
