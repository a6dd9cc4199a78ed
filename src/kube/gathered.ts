/** Bytes that come in pieces and are wanted as one: those of an answer that is read whole, and those of its headers. */

const FIRST_ROOM = 32_768;

/** What came so far. Pieces are copied together at once, so that many small ones cost no more than a few large ones. */
export class Gathered {
  #room: Uint8Array = new Uint8Array();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** All of it; good until more is added. */
  get bytes(): Uint8Array {
    return this.#room.subarray(0, this.#length);
  }

  /** Adds a piece. */
  add(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > this.#room.length) {
      const larger = new Uint8Array(Math.max(length, this.#room.length * 2, FIRST_ROOM));
      larger.set(this.bytes);
      this.#room = larger;
    }
    this.#room.set(piece, this.#length);
    this.#length = length;
  }
}
