/** Reads bodies of requests within limits: of one body, and of all that are held at once. */
import { BadReview } from "./bad_review.ts";
import type { Patience } from "./patience.ts";

// What so many requests at once hold of memory needs no counting.
const SMALL = 65_536;

/** How much is held of bodies that are being read. */
export class BodyReader {
  readonly #most: number;
  #held = 0;

  /** @param most Bytes of large bodies that may be held at once. One alone may be larger. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Bytes that are held. */
  get held(): number {
    return this.#held;
  }

  /**
   * Reads a body as text.
   *
   * @param request The request.
   * @param longest The most bytes that it may have.
   * @param patience For how long.
   * @returns The text; a large one is to be disposed of when it is no longer needed.
   * @throws {BadReview} If it is longer, or too much is held already.
   */
  async read(request: Request, longest: number, patience: Patience): Promise<string | ({ text: string } & Disposable)> {
    const length = lengthOf(request);
    if (length !== undefined && length > longest) throw tooLarge(longest);
    // Not by its stream, which takes as long to make as to read.
    if (length !== undefined && length <= SMALL) return await request.text();
    if (request.body === null) return "";
    return await this.#readLarge(request.body, longest, patience.signal);
  }

  async #readLarge(body: ReadableStream<Uint8Array>, longest: number, signal: AbortSignal) {
    const chunks: Uint8Array[] = [];
    let size = 0;
    const letGo = (): void => {
      this.#held -= size;
      size = 0;
    };
    const reader = body.getReader();
    const stop = (): void => void reader.cancel().catch(() => {});
    signal.addEventListener("abort", stop, { once: true });
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        size += next.value.length;
        this.#held += next.value.length;
        if (size > longest) throw tooLarge(longest);
        if (this.#held > this.#most && this.#held > size) {
          throw new BadReview(429, "too much is being read already: try again");
        }
        chunks.push(next.value);
      }
      if (signal.aborted) throw signal.reason;
      const decoder = new TextDecoder();
      const text = chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode();
      return { text, [Symbol.dispose]: letGo };
    } catch (error) {
      letGo();
      stop();
      throw error;
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }
}

function lengthOf({ headers }: Request): number | undefined {
  const text = headers.get("content-length");
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
}

function tooLarge(longest: number): BadReview {
  return new BadReview(413, `the body is longer than ${longest} bytes`);
}
