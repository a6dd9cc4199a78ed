/** A response body that is read while it arrives. */
import { MAX_RESPONSE_BYTES, ResponseTooLargeError, type WireBody, type WireBodyReader } from "../response.ts";
import { PayloadBuffer } from "./frames.ts";

type ReadResult = Awaited<ReturnType<WireBodyReader["read"]>>;

/** Buffers the received bytes until they are read. There is one reader. */
export class StreamedBody implements WireBody {
  /**
   * Unread content, in one buffer. Separate chunks would use a hundred times as much memory if each
   * frame had one byte.
   */
  #unread: PayloadBuffer | undefined;
  /** Number of bytes of the frames that contained the unread content, including padding. */
  #unreadBytes = 0;
  readonly #onRead: (bytes: number) => void;
  readonly #onCancel: (reason: unknown) => void;
  /** The pending read, if any. There is none while content is unread. */
  #pending: { resolve(result: ReadResult): void; reject(error: unknown): void } | undefined;
  #end: { readonly error: unknown; readonly isFailure: boolean } | undefined;

  /**
   * @param onRead Called with the number of bytes that were read, including padding.
   * @param onCancel Called when the reader cancels.
   */
  constructor(onRead: (bytes: number) => void, onCancel: (reason: unknown) => void) {
    this.#onRead = onRead;
    this.#onCancel = onCancel;
  }

  /**
   * Adds received content.
   *
   * @param content The content. It is copied.
   * @param bytes Length of its frame's payload, including padding.
   */
  push(content: Uint8Array, bytes: number): void {
    if (this.#end !== undefined) return;
    if (this.#pending === undefined) {
      (this.#unread ??= new PayloadBuffer(content.length)).add(content);
      this.#unreadBytes += bytes;
      return;
    }
    const { resolve } = this.#pending;
    this.#pending = undefined;
    this.#onRead(bytes);
    resolve({ done: false, value: content.slice() });
  }

  /** Ends the body. */
  end(): void {
    this.#finish({ error: undefined, isFailure: false });
  }

  /** Ends the body with an error. Content that was received before can still be read. */
  fail(error: unknown): void {
    this.#finish({ error, isFailure: true });
  }

  getReader(): WireBodyReader {
    return { read: () => this.#read(), cancel: (reason) => this.cancel(reason) };
  }

  cancel(reason?: unknown): Promise<void> {
    this.#unread = undefined;
    const hasEnded = this.#end !== undefined;
    this.end();
    if (!hasEnded) this.#onCancel(reason);
    return Promise.resolve();
  }

  /**
   * Reads the rest as a string.
   *
   * @param limit Longest body, in bytes.
   * @throws {ResponseTooLargeError} If it is longer.
   */
  async text(limit: number = MAX_RESPONSE_BYTES): Promise<string> {
    const decoder = new TextDecoder();
    let text = "";
    let length = 0;
    for (let chunk = await this.#read(); !chunk.done; chunk = await this.#read()) {
      length += chunk.value!.length;
      if (length > limit) {
        const error = new ResponseTooLargeError(limit);
        await this.cancel(error);
        throw error;
      }
      text += decoder.decode(chunk.value, { stream: true });
    }
    return text + decoder.decode();
  }

  #read(): Promise<ReadResult> {
    if (this.#unread !== undefined) {
      const { bytes: value } = this.#unread;
      const bytes = this.#unreadBytes;
      this.#unread = undefined;
      this.#unreadBytes = 0;
      this.#onRead(bytes);
      return Promise.resolve({ done: false, value });
    }
    if (this.#end?.isFailure) return Promise.reject(this.#end.error);
    if (this.#end !== undefined) return Promise.resolve({ done: true });
    return new Promise((resolve, reject) => this.#pending = { resolve, reject });
  }

  #finish(end: { readonly error: unknown; readonly isFailure: boolean }): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    const pending = this.#pending;
    this.#pending = undefined;
    if (end.isFailure) pending?.reject(end.error);
    else pending?.resolve({ done: true });
  }
}
