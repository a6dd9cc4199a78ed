/**
 * Reads request bodies within a memory budget. A body of a known length reserves memory before its first byte is read; when the budget is used up, it waits
 * for its turn, and when too much waits already it is refused unread.
 */
import { BadReview } from "./bad_review.ts";
import type { Exchange } from "./caller.ts";
import type { FairShare } from "./fair_share.ts";
import type { Patience } from "./patience.ts";

// The longest body that needs no reservation: as much as a connection may send anyway, and as most reviews have.
const SMALL = 16_384;
// The longest that is not read by its stream, which takes as long to make as to read, but holds less.
const MEDIUM = 65_536;
// While a body becomes a string, memory holds both; the server has buffers of its own for what is not read by a stream.
const COPIES = 2;
const MEDIUM_COPIES = 4;

/** A body that was read. */
export interface ReadBody {
  readonly text: string;
  /** Returns the memory that was reserved for reading it; `undefined` for a small body. */
  readonly share: Disposable | undefined;
}

/** Options of {@linkcode BodyReader.read}. */
export interface ReadOptions {
  /** The longest body that is read, in bytes. */
  readonly longest: number;
  /** Address of the client. */
  readonly address: string;
  readonly exchange: Exchange;
  readonly patience: Patience;
  /** Called when the body may be sent: waiting for memory is not the client's fault. */
  readonly onTurn: () => void;
}

/** Reads request bodies. */
export class BodyReader {
  readonly #memory: FairShare;

  /** @param memory Bytes that bodies may take while they are read. */
  constructor(memory: FairShare) {
    this.#memory = memory;
  }

  /**
   * Reads a body as text.
   *
   * @param request The request.
   * @param options How much, for whom, and for how long.
   * @throws {BadReview} 413 if the body is too long, 429 if too much is being read already.
   */
  async read(request: Request, options: ReadOptions): Promise<ReadBody> {
    const { longest, exchange, onTurn } = options;
    const length = lengthOf(request);
    if (length !== undefined && length > longest) throw tooLong(longest);
    const share = length === undefined ? undefined : await this.#reserve(length, options);
    onTurn();
    exchange.bodyBegan();
    try {
      if (length === undefined) return await this.#readUnknown(request, options);
      return { text: length <= MEDIUM ? await request.text() : await textOf(request, length, options.patience), share };
    } catch (error) {
      share?.[Symbol.dispose]();
      throw error;
    } finally {
      exchange.bodyEnded();
    }
  }

  /** Reserves memory for a body, which may take a while. */
  async #reserve(length: number, { address, patience }: ReadOptions): Promise<Disposable | undefined> {
    if (length <= SMALL) return undefined;
    const amount = length * (length <= MEDIUM ? MEDIUM_COPIES : COPIES);
    // No wait could make room for it.
    if (amount > this.#memory.total) throw tooMuch(amount, this.#memory.total);
    return this.#memory.tryTake(address, amount) ??
      await (this.#memory.take(address, amount, patience.signal) ?? refuse());
  }

  /** API servers send the length. A body without one gets what memory is free, and does not wait for more while it holds some. */
  async #readUnknown(request: Request, { longest, address, patience }: ReadOptions): Promise<ReadBody> {
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    using shares = new DisposableStack();
    let size = 0;
    for await (const chunk of chunksOf(request, patience.signal)) {
      size += chunk.length;
      if (size > longest) throw tooLong(longest);
      const share = this.#memory.tryTake(address, COPIES * chunk.length);
      if (share === undefined) throw tooBusy();
      shares.use(share);
      chunks.push(chunk);
    }
    const decoder = new TextDecoder();
    const text = chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode();
    return { text, share: shares.move() };
  }
}

async function textOf(request: Request, length: number, { signal }: Patience): Promise<string> {
  const bytes = new Uint8Array(length);
  let size = 0;
  for await (const chunk of chunksOf(request, signal)) {
    bytes.set(chunk, size);
    size += chunk.length;
  }
  return decoded(bytes.subarray(0, size));
}

/** Decodes bytes and frees their memory at once, rather than when it is collected. */
function decoded(bytes: Uint8Array<ArrayBuffer>): string {
  const text = new TextDecoder().decode(bytes);
  bytes.buffer.transfer(0);
  return text;
}

/** The chunks of a body; an aborted signal ends them with its reason. */
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

function lengthOf({ headers }: Request): number | undefined {
  const text = headers.get("content-length");
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
}

function tooLong(longest: number): BadReview {
  return new BadReview(413, `the body is longer than ${longest} bytes`);
}

/** A review that takes more memory than there is for reviews. */
export function tooMuch(amount: number, total: number): BadReview {
  const mib = (bytes: number): string => `${Math.ceil(bytes / 2 ** 20)} MiB`;
  return new BadReview(
    413,
    `the review takes ${mib(amount)} of memory, and reviews may take ${mib(total)}: raise the operator's memory limit`,
  );
}

/** The caller is asked to come again. */
export function tooBusy(): BadReview {
  return new BadReview(429, "too many reviews are waiting already: try again");
}

function refuse(): never {
  throw tooBusy();
}
