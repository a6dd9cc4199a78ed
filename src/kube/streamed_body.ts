/** A body that is read as it comes. */
import { type AnswerBody, type BodyReader, LongAnswerError, LONGEST_TEXT } from "./answer.ts";

type Piece = Awaited<ReturnType<BodyReader["read"]>>;

/** What came and is not yet read, and who waits for it. There is one reader. */
export class StreamedBody implements AnswerBody {
  readonly #pieces: { readonly value: Uint8Array; readonly bytes: number }[] = [];
  readonly #onRead: (bytes: number) => void;
  readonly #onCancel: (reason: unknown) => void;
  #waiting: { resolve(piece: Piece): void; reject(error: unknown): void } | undefined;
  #end: { readonly error: unknown; readonly isFailure: boolean } | undefined;

  /**
   * @param onRead Told of what was read, in bytes as they were sent.
   * @param onCancel Told when nobody reads on.
   */
  constructor(onRead: (bytes: number) => void, onCancel: (reason: unknown) => void) {
    this.#onRead = onRead;
    this.#onCancel = onCancel;
  }

  /** Something came. */
  push(value: Uint8Array, bytes: number): void {
    if (this.#end !== undefined) return;
    if (this.#waiting === undefined) return void this.#pieces.push({ value, bytes });
    const { resolve } = this.#waiting;
    this.#waiting = undefined;
    this.#onRead(bytes);
    resolve({ done: false, value });
  }

  /** All came. */
  end(): void {
    this.#over({ error: undefined, isFailure: false });
  }

  /** It broke off. */
  fail(error: unknown): void {
    this.#over({ error, isFailure: true });
  }

  getReader(): BodyReader {
    return { read: () => this.#read(), cancel: (reason) => this.cancel(reason) };
  }

  cancel(reason?: unknown): Promise<void> {
    this.#pieces.length = 0;
    const isOver = this.#end !== undefined;
    this.end();
    if (!isOver) this.#onCancel(reason);
    return Promise.resolve();
  }

  /**
   * The rest of it as text.
   *
   * @param longest How many bytes it may have.
   * @throws {LongAnswerError} If it has more.
   */
  async text(longest: number = LONGEST_TEXT): Promise<string> {
    const decoder = new TextDecoder();
    let text = "";
    let length = 0;
    for (let piece = await this.#read(); !piece.done; piece = await this.#read()) {
      length += piece.value!.length;
      if (length > longest) {
        const error = new LongAnswerError(longest);
        await this.cancel(error);
        throw error;
      }
      text += decoder.decode(piece.value, { stream: true });
    }
    return text + decoder.decode();
  }

  #read(): Promise<Piece> {
    const piece = this.#pieces.shift();
    if (piece !== undefined) {
      this.#onRead(piece.bytes);
      return Promise.resolve({ done: false, value: piece.value });
    }
    if (this.#end?.isFailure) return Promise.reject(this.#end.error);
    if (this.#end !== undefined) return Promise.resolve({ done: true });
    return new Promise((resolve, reject) => this.#waiting = { resolve, reject });
  }

  #over(end: { readonly error: unknown; readonly isFailure: boolean }): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (end.isFailure) waiting?.reject(end.error);
    else waiting?.resolve({ done: true });
  }
}
