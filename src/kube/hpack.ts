/**
 * Headers as HTTP/2 sends them (RFC 7541). What we send is indexed: most headers of a request are those of the one before, and cost a byte each. What we
 * receive is not, for we ask the server for a table of no size: so the answer to nearly all requests is told by its first byte.
 */

/** Of the table that both sides have from the start (RFC 7541, appendix A), the names that we send, and those that we look for. */
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
const WHOLE: Readonly<Record<string, number>> = { "GET": 2, "POST": 3 };
const HTTPS = 7;
const STATUS = 8;
const RETRY_AFTER = 53;
/** Statuses that have an entry of their own, from the eighth. */
const STATUSES = [200, 204, 206, 304, 400, 404, 500];
const STATIC_SIZE = 61;
// What an entry of the table counts beside its text (RFC 7541, 4.1).
const ENTRY = 32;

/** What is asked, as HTTP/2 sends it. */
export interface RequestHeaders {
  readonly method: string;
  readonly authority: string;
  readonly path: string;
  /** Names in lower case. Values are the same from request to request, nearly always. */
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes of the body, where there is one. */
  readonly length: number | undefined;
}

/** A header that the server's table holds. */
interface Entry {
  readonly name: string;
  readonly value: string;
  /** The how-many-eth it was. */
  readonly number: number;
  readonly size: number;
}

/** Writes headers. It keeps in step with the server's table, so that what it writes has to be sent, and in this order. */
export class HeaderWriter {
  readonly #encoder = new TextEncoder();
  /** What the server's table holds, by name; of most names there is one. */
  readonly #sent = new Map<string, Entry[]>();
  /** The same, oldest first. */
  #oldest: Entry[] = [];
  #count = 0;
  #size = 0;
  #limit: number;
  #isShrunk = false;
  #out = new Uint8Array(4096);
  #at = 0;

  /** @param limit How many bytes the server's table may have. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The server allows its table to be so large from now on. A smaller one is not used any more. */
  resize(limit: number): void {
    if (limit >= this.#limit) return;
    this.#limit = 0;
    this.#size = 0;
    this.#sent.clear();
    this.#oldest = [];
    this.#isShrunk = true;
  }

  /** The header block of a request; good until the next one is written. */
  write({ method, authority, path, headers, length }: RequestHeaders): Uint8Array {
    this.#at = 0;
    if (this.#isShrunk) this.#number(0x20, 5, 0);
    this.#isShrunk = false;
    const known = WHOLE[method];
    if (known === undefined) this.#indexed(":method", method);
    else this.#number(0x80, 7, known);
    this.#number(0x80, 7, HTTPS);
    this.#indexed(":authority", authority);
    this.#literal(0, 4, ":path", path);
    for (const name in headers) this.#indexed(name, headers[name]!);
    if (length !== undefined) this.#literal(0, 4, "content-length", String(length));
    return this.#out.subarray(0, this.#at);
  }

  #indexed(name: string, value: string): void {
    const same = this.#sent.get(name) ?? [];
    const held = same.find((entry) => entry.value === value);
    if (held !== undefined) return this.#number(0x80, 7, STATIC_SIZE + this.#count - held.number);
    const size = name.length + this.#encoder.encode(value).length + ENTRY;
    // What is too large for the table would empty it.
    if (size > this.#limit) return this.#literal(0, 4, name, value);
    this.#literal(0x40, 6, name, value);
    // The oldest go first, as they do on the other side.
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
    if (index === undefined) this.#text(name);
    this.#text(value);
  }

  #text(text: string): void {
    // The length stands before the bytes: of plain ASCII, which this is nearly always, it is the text's.
    this.#room(text.length * 3 + 8);
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
    this.#room(8);
    const most = (1 << bits) - 1;
    if (value < most) return void (this.#out[this.#at++] = first | value);
    this.#out[this.#at++] = first | most;
    let rest = value - most;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#out[this.#at++] = (rest % 128) | 128;
    this.#out[this.#at++] = rest;
  }

  #room(bytes: number): void {
    if (this.#at + bytes <= this.#out.length) return;
    const larger = new Uint8Array((this.#at + bytes) * 2);
    larger.set(this.#out);
    this.#out = larger;
  }
}

/** What is read of an answer's headers. */
export interface AnswerHeaders {
  readonly status: number;
  readonly retryAfter: string | null;
}

/**
 * Reads the headers of an answer.
 *
 * @param block The header block, whole.
 * @returns Its status, and the time to wait where it says one; nothing for trailers, which have no status.
 * @throws {RangeError} If it breaks the rules, or refers to a table that we have not.
 */
export function readHeaders(block: Uint8Array): AnswerHeaders | undefined {
  let status: number | undefined;
  let retryAfter: string | null = null;
  const reader = new Reader(block);
  while (!reader.isAtEnd) {
    const first = block[reader.at]!;
    if (first & 0x80) {
      const index = reader.number(7);
      if (index === 0 || index > STATIC_SIZE) throw new RangeError(`there is no header ${index}`);
      status ??= STATUSES[index - STATUS];
      // The others say nothing that an operator asks for.
      if (status === 200) return { status, retryAfter: null };
      continue;
    }
    // A size of the table: ours has none.
    if ((first & 0xe0) === 0x20) {
      reader.number(5);
      continue;
    }
    const index = reader.number(first & 0x40 ? 6 : 4);
    if (index > STATIC_SIZE) throw new RangeError(`there is no header ${index}`);
    const name = index === 0 ? reader.text() : undefined;
    const isStatus = index >= STATUS && index < STATUS + STATUSES.length || name === ":status";
    const isRetry = index === RETRY_AFTER || name === "retry-after";
    if (isStatus) status = Number(reader.text());
    else if (isRetry) retryAfter = reader.text();
    else reader.skip();
  }
  if (status === undefined) return undefined;
  if (!Number.isInteger(status) || status < 100 || status > 599) throw new RangeError("a status is no number");
  return { status, retryAfter };
}

class Reader {
  readonly #block: Uint8Array;
  at = 0;

  constructor(block: Uint8Array) {
    this.#block = block;
  }

  get isAtEnd(): boolean {
    return this.at >= this.#block.length;
  }

  number(bits: number): number {
    const most = (1 << bits) - 1;
    let value = this.#byte() & most;
    if (value < most) return value;
    for (let shift = 0;; shift += 7) {
      const byte = this.#byte();
      value += (byte & 127) * 2 ** shift;
      if (shift > 28) throw new RangeError("a number is too large");
      if (byte < 128) return value;
    }
  }

  text(): string {
    const isHuffman = (this.#block[this.at] ?? 0) >= 128;
    const bytes = this.skip();
    return isHuffman ? huffman(bytes) : String.fromCharCode(...bytes);
  }

  /** A text as it was sent. */
  skip(): Uint8Array {
    const length = this.number(7);
    if (this.at + length > this.#block.length) throw new RangeError("a text is longer than what holds it");
    return this.#block.subarray(this.at, this.at += length);
  }

  #byte(): number {
    if (this.isAtEnd) throw new RangeError("it ends too early");
    return this.#block[this.at++]!;
  }
}

/**
 * How many bits each byte takes, 0-9 and a-u for 0 to 30; the last is for the end. The code is canonical, so that this says all
 * (RFC 7541, appendix B).
 */
const BITS =
  "dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6cad67777777777777777777777878djde6f56565666577666567655677777fbedskm" +
  "kkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmnqqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrqu";

/** Bytes by how many bits they take, and the code of the first of them. Made when first asked for: hardly any answer needs it. */
let codes: readonly { readonly bits: number; readonly first: number; readonly bytes: readonly number[] }[] | undefined;

function makeCodes(): NonNullable<typeof codes> {
  const made = [];
  let code = 0;
  for (let bits = 1; bits <= 30; bits++) {
    code *= 2;
    const bytes = [...BITS].flatMap((letter, byte) => parseInt(letter, 31) === bits ? [byte] : []);
    made.push({ bits, first: code, bytes });
    code += bytes.length;
  }
  return made;
}

function huffman(bytes: Uint8Array): string {
  codes ??= makeCodes();
  let text = "";
  let code = 0;
  let bits = 0;
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit--) {
      code = code * 2 + (byte >> bit & 1);
      const row = codes[bits++];
      if (row === undefined) throw new RangeError("a text has no end");
      const found = row.bytes[code - row.first];
      if (found === undefined) continue;
      if (found === 256) throw new RangeError("a text has its end inside");
      text += String.fromCharCode(found);
      code = bits = 0;
    }
  }
  // What fills the last byte is the beginning of the end: ones alone, fewer than eight.
  if (bits > 7 || code !== 2 ** bits - 1) throw new RangeError("a text ends wrongly");
  return text;
}
