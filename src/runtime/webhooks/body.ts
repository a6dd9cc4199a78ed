/**
 * Reads request bodies within a memory limit. Memory for a body of known length is reserved before
 * its first byte is read. If there is not enough, the request waits. If too many requests wait
 * already, the request is rejected and its body is not read.
 */
import { BadReview } from "./bad_review.ts";
import type { Exchange } from "./caller.ts";
import type { FairShare } from "./fair_share.ts";
import type { ReviewTimeout } from "./review_timeout.ts";

// Longest body for which no memory is reserved, in bytes. A connection may send this much in any
// case, and most reviews are shorter.
const SMALL = 16_384;
// Longest body that is not read as a stream, in bytes. A stream takes less memory, but as much time
// to create as it takes to read such a body.
const MEDIUM = 65_536;
// Number of copies in memory. While a body is decoded, there are its bytes and its string. If it is
// not read as a stream, the HTTP server buffers it too.
const COPIES = 2;
const MEDIUM_COPIES = 4;

/** A body that was read. */
export interface ReadBody {
  readonly text: string;
  /** Releases the memory that was reserved for the body; `undefined` for a small one. */
  readonly share: Disposable | undefined;
}

/** Options of {@linkcode BodyReader.read}. */
export interface ReadOptions {
  /** Maximum length of the body, in bytes. */
  readonly maxLength: number;
  /** Address of the client. */
  readonly address: string;
  readonly exchange: Exchange;
  readonly reviewTimeout: ReviewTimeout;
  /**
   * Called when the client may send the body. The time that it waited for memory before does not
   * count as the client's delay.
   */
  readonly onTurn: () => void;
}

/** Reads request bodies. */
export class BodyReader {
  readonly #memory: FairShare;

  /** @param memory The memory for bodies that are being read, in bytes. */
  constructor(memory: FairShare) {
    this.#memory = memory;
  }

  /**
   * Reads a body as text.
   *
   * @param request The request.
   * @param options The limit, the client and the timeout.
   * @throws {BadReview} With status 413 if the body is too long, or 429 if too many bodies wait
   * already.
   */
  async read(request: Request, options: ReadOptions): Promise<ReadBody> {
    const { maxLength, exchange, onTurn } = options;
    const length = contentLength(request);
    if (length !== undefined && length > maxLength) throw tooLong(maxLength);
    const share = length === undefined ? undefined : await this.#reserve(length, options);
    onTurn();
    exchange.bodyBegan();
    try {
      if (length === undefined) return await this.#readUnknown(request, options);
      return {
        text: length <= MEDIUM ? await request.text() : await readText(request, length, options.reviewTimeout),
        share,
      };
    } catch (error) {
      share?.[Symbol.dispose]();
      throw error;
    } finally {
      exchange.bodyEnded();
    }
  }

  /** Waits for memory for a body, and reserves it. Small bodies need no reservation. */
  async #reserve(length: number, { address, reviewTimeout }: ReadOptions): Promise<Disposable | undefined> {
    if (length <= SMALL) return undefined;
    const amount = length * (length <= MEDIUM ? MEDIUM_COPIES : COPIES);
    // Waiting would not help.
    if (amount > this.#memory.total) throw tooMuchMemory(amount, this.#memory.total);
    return this.#memory.tryTake(address, amount) ??
      await (this.#memory.take(address, amount, reviewTimeout.signal) ?? rejectAsBusy());
  }

  /**
   * Reads a body of unknown length. API servers send the length, so such a body is rejected if
   * memory is used up. It must not wait, because it already holds memory.
   */
  async #readUnknown(request: Request, { maxLength, address, reviewTimeout }: ReadOptions): Promise<ReadBody> {
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    using shares = new DisposableStack();
    let size = 0;
    for await (const chunk of chunksOf(request, reviewTimeout.signal)) {
      size += chunk.length;
      if (size > maxLength) throw tooLong(maxLength);
      const share = this.#memory.tryTake(address, COPIES * chunk.length);
      if (share === undefined) rejectAsBusy();
      shares.use(share);
      chunks.push(chunk);
    }
    const decoder = new TextDecoder();
    const text = chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode();
    return { text, share: shares.move() };
  }
}

async function readText(request: Request, length: number, { signal }: ReviewTimeout): Promise<string> {
  const bytes = new Uint8Array(length);
  let size = 0;
  for await (const chunk of chunksOf(request, signal)) {
    bytes.set(chunk, size);
    size += chunk.length;
  }
  return decodeAndFree(bytes.subarray(0, size));
}

/** Decodes bytes, and frees their memory without waiting for garbage collection. */
function decodeAndFree(bytes: Uint8Array<ArrayBuffer>): string {
  const text = new TextDecoder().decode(bytes);
  bytes.buffer.transfer(0);
  return text;
}

/** Yields the chunks of a body. Throws the signal's reason when it is aborted. */
async function* chunksOf({ body }: Request, signal: AbortSignal): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  if (body === null) return;
  const reader = body.getReader();
  const stop = (): void => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener("abort", stop, { once: true });
  let isWhole = false;
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      yield next.value as Uint8Array<ArrayBuffer>;
    }
    isWhole = true;
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener("abort", stop);
    if (!isWhole) stop();
  }
}

function contentLength({ headers }: Request): number | undefined {
  const text = headers.get("content-length");
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
}

function tooLong(maxLength: number): BadReview {
  return new BadReview(413, `the body is longer than ${maxLength} bytes`);
}

/**
 * Returns the error for a review that needs more memory than all reviews may use.
 *
 * @param amount Bytes that the review needs.
 * @param total Bytes that all reviews may use.
 */
export function tooMuchMemory(amount: number, total: number): BadReview {
  const mib = (bytes: number): string => `${Math.ceil(bytes / 2 ** 20)} MiB`;
  return new BadReview(
    413,
    `the review needs ${mib(amount)} of memory, but reviews may use only ${
      mib(total)
    }. Raise the operator's memory limit`,
  );
}

/**
 * Rejects a review because too many others wait. The client should try again.
 *
 * @throws {BadReview} With status 429.
 */
export function rejectAsBusy(): never {
  throw new BadReview(429, "too many reviews are waiting. Try again");
}
