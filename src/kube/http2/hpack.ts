/**
 * Header compression (RFC 7541).
 *
 * Request headers are indexed, except the token. Most are the same as in the previous request, so
 * each takes one byte. Response headers are not indexed, because the client announces a table of
 * size 0. Of a response with status 200, only the status is decoded; the rest is validated and
 * skipped.
 */
import { ProtocolError } from "./errors.ts";

/** Entries of the static table (RFC 7541, appendix A) for the names of request headers. */
const STATIC = {
  ":authority": 1,
  ":path": 4,
  "accept-encoding": 16,
  accept: 19,
  authorization: 23,
  "content-length": 28,
  "content-type": 31,
  "user-agent": 58,
} as const;
/** Entries of the static table that have both name and value. */
const STATIC_METHODS: Readonly<Record<string, number>> = { "GET": 2, "POST": 3 };
const SCHEME_HTTPS = 7;
const STATUS = 8;
const RETRY_AFTER = 53;
/** Statuses with an entry in the static table, which start at {@linkcode STATUS}. */
const STATUSES = [200, 204, 206, 304, 400, 404, 500];
const STATIC_SIZE = 61;
/** Longest name or value that is decoded, in bytes. */
const MAX_STRING = 16_384;
/** Bytes that an entry of the dynamic table counts in addition to its strings (RFC 7541, 4.1). */
const ENTRY_OVERHEAD = 32;

/** The headers of a request. */
export interface RequestHeaders {
  readonly method: string;
  readonly authority: string;
  readonly path: string;
  /** Names are in lower case. Nearly all values are the same as in the previous request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Length of the body in bytes; `undefined` without a body. */
  readonly length: number | undefined;
}

/** A header in the server's dynamic table. */
interface Entry {
  readonly name: string;
  readonly value: string;
  /** Number of entries that were added before it. */
  readonly number: number;
  readonly size: number;
}

/**
 * Writes the header blocks of requests. It mirrors the server's dynamic table, so all blocks must
 * be sent, in the order in which they were written.
 */
export class HeaderWriter {
  readonly #encoder = new TextEncoder();
  /** Entries of the server's dynamic table by name. Most names have one. */
  readonly #sent = new Map<string, Entry[]>();
  /** The same entries, oldest first. */
  #oldest: Entry[] = [];
  #count = 0;
  #size = 0;
  #limit: number;
  /** Whether the next block must announce a table size of 0. */
  #isShrunk = false;
  #out = new Uint8Array(4096);
  #at = 0;

  /** @param limit Largest size of the server's dynamic table, in bytes. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Applies the server's SETTINGS_HEADER_TABLE_SIZE. A smaller table is not used at all; a larger
   * one has no effect.
   */
  resize(limit: number): void {
    if (limit >= this.#limit) return;
    this.#limit = 0;
    this.#size = 0;
    this.#sent.clear();
    this.#oldest = [];
    this.#isShrunk = true;
  }

  /** Returns the header block of a request. It is valid until the next one is written. */
  write({ method, authority, path, headers, length }: RequestHeaders): Uint8Array {
    this.#at = 0;
    if (this.#isShrunk) this.#number(0x20, 5, 0);
    this.#isShrunk = false;
    const entry = STATIC_METHODS[method];
    if (entry === undefined) this.#indexed(":method", method);
    else this.#number(0x80, 7, entry);
    this.#number(0x80, 7, SCHEME_HTTPS);
    this.#indexed(":authority", authority);
    this.#literal(0, 4, ":path", path);
    for (const name in headers) {
      // Never indexed: a token must not enter the table of the server or of a proxy (RFC 7541,
      // 7.1.3).
      if (name === "authorization") this.#literal(0x10, 4, name, headers[name]!);
      else this.#indexed(name, headers[name]!);
    }
    if (length !== undefined) this.#literal(0, 4, "content-length", String(length));
    return this.#out.subarray(0, this.#at);
  }

  #indexed(name: string, value: string): void {
    const existing = this.#sent.get(name)?.find((entry) => entry.value === value);
    if (existing !== undefined) return this.#number(0x80, 7, STATIC_SIZE + this.#count - existing.number);
    const size = name.length + this.#encoder.encode(value).length + ENTRY_OVERHEAD;
    // Adding an entry that is larger than the table would evict all others.
    if (size > this.#limit) return this.#literal(0, 4, name, value);
    this.#literal(0x40, 6, name, value);
    // The oldest entries are evicted first, as on the server.
    while (this.#size + size > this.#limit) this.#evict(this.#oldest.shift()!);
    const entry = { name, value, number: this.#count++, size };
    this.#size += size;
    this.#oldest.push(entry);
    this.#sent.set(name, [...this.#sent.get(name) ?? [], entry]);
  }

  #evict(entry: Entry): void {
    this.#size -= entry.size;
    this.#sent.set(entry.name, this.#sent.get(entry.name)!.filter((other) => other !== entry));
  }

  #literal(first: number, bits: number, name: string, value: string): void {
    const index = name === ":method" ? 2 : STATIC[name as keyof typeof STATIC];
    this.#number(first, bits, index ?? 0);
    if (index === undefined) this.#string(name);
    this.#string(value);
  }

  #string(text: string): void {
    // The length in bytes precedes the string. First assume ASCII, where it is the number of
    // characters.
    this.#reserve(text.length * 3 + 8);
    const start = this.#at;
    this.#number(0, 7, text.length);
    const { written } = this.#encoder.encodeInto(text, this.#out.subarray(this.#at));
    if (written === text.length) {
      this.#at += written;
      return;
    }
    this.#at = start;
    this.#number(0, 7, written);
    this.#at += this.#encoder.encodeInto(text, this.#out.subarray(this.#at)).written;
  }

  #number(first: number, bits: number, value: number): void {
    this.#reserve(8);
    const max = (1 << bits) - 1;
    if (value < max) return void (this.#out[this.#at++] = first | value);
    this.#out[this.#at++] = first | max;
    let rest = value - max;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#out[this.#at++] = (rest % 128) | 128;
    this.#out[this.#at++] = rest;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#out.length) return;
    const larger = new Uint8Array((this.#at + bytes) * 2);
    larger.set(this.#out);
    this.#out = larger;
  }
}

/** The headers of a response that the client uses. */
export interface ResponseHeaders {
  readonly status: number;
  readonly retryAfter: string | null;
}

/**
 * Reads the headers of a response.
 *
 * @param block The complete header block.
 * @returns Its status and, unless that is 200, its Retry-After header; `undefined` for trailers.
 * @throws {ProtocolError} If the block is invalid, or refers to the dynamic table.
 */
export function readHeaders(block: Uint8Array): ResponseHeaders | undefined {
  let status: number | undefined;
  let retryAfter: string | null = null;
  let hasOthers = false;
  const onStatus = (value: number): void => {
    // RFC 9113, 8.3: there is exactly one status, and it precedes all other headers.
    if (status !== undefined) throw new ProtocolError("a response has two statuses");
    if (hasOthers) throw new ProtocolError("the status of a response follows other headers");
    status = value;
  };
  const reader = new Reader(block);
  while (!reader.isAtEnd) {
    const first = block[reader.at]!;
    if (first & 0x80) {
      const index = reader.number(7);
      if (index === 0 || index > STATIC_SIZE) throw new ProtocolError(`header ${index} is not in the static table`);
      rejectRequestHeader(index);
      if (isStatusAt(index)) onStatus(STATUSES[index - STATUS]!);
      else hasOthers = true;
      continue;
    }
    // A dynamic table size update. The client has no table.
    if ((first & 0xe0) === 0x20) {
      reader.number(5);
      continue;
    }
    const index = reader.number(first & 0x40 ? 6 : 4);
    if (index > STATIC_SIZE) throw new ProtocolError(`header ${index} is not in the static table`);
    rejectRequestHeader(index);
    let isStatus = isStatusAt(index);
    let isRetry = index === RETRY_AFTER;
    if (index === 0) {
      // Of a response with status 200, only the status is used, so other names need not be decoded.
      const isPseudo = reader.isAtColon;
      let name: string | undefined;
      if (isPseudo || status !== 200) name = reader.string();
      else reader.skip();
      isStatus = name === ":status";
      isRetry = name === "retry-after";
      if (isPseudo && !isStatus) throw new ProtocolError(`a response has the pseudo-header "${name?.slice(0, 40)}"`);
    }
    if (isStatus) {
      onStatus(parseStatus(reader.string()));
      continue;
    }
    hasOthers = true;
    if (isRetry && status !== 200) retryAfter = reader.string();
    else reader.skip();
  }
  return status === undefined ? undefined : { status, retryAfter };
}

function isStatusAt(index: number): boolean {
  return index >= STATUS && index < STATUS + STATUSES.length;
}

/** The first seven entries of the static table are pseudo-headers of requests. */
function rejectRequestHeader(index: number): void {
  if (index > 0 && index < STATUS) {
    throw new ProtocolError(`a response has a pseudo-header of requests (entry ${index} of the static table)`);
  }
}

/** Parses a status. `Number` alone would also accept "0xc8" and " 200". */
function parseStatus(text: string): number {
  if (!/^[1-5][0-9]{2}$/.test(text)) {
    throw new ProtocolError("the status of a response is not a number from 100 to 599");
  }
  return Number(text);
}

/** Reads the representations of a header block. */
class Reader {
  readonly #block: Uint8Array;
  at = 0;

  constructor(block: Uint8Array) {
    this.#block = block;
  }

  get isAtEnd(): boolean {
    return this.at >= this.#block.length;
  }

  /**
   * Whether the next string begins with a colon (1011100 in Huffman code), as names of
   * pseudo-headers do.
   */
  get isAtColon(): boolean {
    // An empty or truncated string does not begin with a colon.
    const length = this.#block[this.at] ?? 0;
    const first = this.#block[this.at + 1] ?? 0;
    return length < 128 ? length > 0 && first === 0x3a : first >> 1 === 0b1011100;
  }

  number(bits: number): number {
    const max = (1 << bits) - 1;
    let value = this.#byte() & max;
    if (value < max) return value;
    for (let shift = 0;; shift += 7) {
      const byte = this.#byte();
      value += (byte & 127) * 2 ** shift;
      if (shift > 28) throw new ProtocolError("a number in a header block is too large");
      if (byte < 128) return value;
    }
  }

  string(): string {
    const isHuffman = (this.#block[this.at] ?? 0) >= 128;
    const bytes = this.#bytes();
    // String.fromCharCode cannot take more arguments than this.
    if (bytes.length > MAX_STRING) {
      throw new ProtocolError(`a header has ${bytes.length} bytes, more than the allowed ${MAX_STRING}`);
    }
    return isHuffman ? huffman(bytes) : String.fromCharCode(...bytes);
  }

  /** Skips a string. */
  skip(): void {
    const length = this.number(7);
    if (this.at + length > this.#block.length) throw new ProtocolError("a string is longer than its header block");
    this.at += length;
  }

  #bytes(): Uint8Array {
    const length = this.number(7);
    if (this.at + length > this.#block.length) throw new ProtocolError("a string is longer than its header block");
    return this.#block.subarray(this.at, this.at += length);
  }

  #byte(): number {
    if (this.isAtEnd) throw new ProtocolError("a header block ends too early");
    return this.#block[this.at++]!;
  }
}

/**
 * Length of the Huffman code of each byte, in bits, as a base-31 digit (0-9, a-u). The last entry
 * is the end of the string (RFC 7541, appendix B). The code is canonical, so the lengths define it.
 */
const BITS =
  "dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6cad67777777777777777777777878djde6f56565666577666567655677777fbedskm" +
  "kkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmnqqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrqu";

/**
 * Bytes by the length of their code, with the first code of each length. Created on first use,
 * because few responses need it.
 */
let codes: readonly { readonly bits: number; readonly first: number; readonly bytes: readonly number[] }[] | undefined;

function buildCodes(): NonNullable<typeof codes> {
  const lengths = [];
  let code = 0;
  for (let bits = 1; bits <= 30; bits++) {
    code *= 2;
    const bytes = [...BITS].flatMap((letter, byte) => parseInt(letter, 31) === bits ? [byte] : []);
    lengths.push({ bits, first: code, bytes });
    code += bytes.length;
  }
  return lengths;
}

function huffman(bytes: Uint8Array): string {
  codes ??= buildCodes();
  let text = "";
  let code = 0;
  let bits = 0;
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit--) {
      code = code * 2 + (byte >> bit & 1);
      const row = codes[bits++];
      if (row === undefined) throw new ProtocolError("a Huffman code is unknown");
      const found = row.bytes[code - row.first];
      if (found === undefined) continue;
      if (found === 256) throw new ProtocolError("a Huffman string has its end mark inside");
      text += String.fromCharCode(found);
      code = bits = 0;
    }
  }
  // The padding of the last byte is the start of the end mark: fewer than eight bits, all ones.
  if (bits > 7 || code !== 2 ** bits - 1) throw new ProtocolError("a Huffman string has invalid padding");
  return text;
}
