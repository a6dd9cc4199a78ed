/**
 * Headers as HTTP/2 sends them (RFC 7541). What we send is indexed, except the token: most headers of a request are those of the one before, and cost a byte
 * each. What we receive is not indexed, as we ask the server for a table of size zero: of a success only the status is decoded, the rest is checked and
 * skipped.
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
    for (const name in headers) {
      // Never indexed: no table of the server's, or of a proxy on the way, is to hold a token (RFC 7541, 7.1.3).
      if (name === "authorization") this.#literal(0x10, 4, name, headers[name]!);
      else this.#indexed(name, headers[name]!);
    }
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
  let hasOthers = false;
  const onStatus = (value: number): void => {
    // RFC 9113, 8.3: exactly one, and before all other headers.
    if (status !== undefined) throw new RangeError("there are two statuses");
    if (hasOthers) throw new RangeError("a status follows other headers");
    status = value;
  };
  const reader = new Reader(block);
  while (!reader.isAtEnd) {
    const first = block[reader.at]!;
    if (first & 0x80) {
      const index = reader.number(7);
      if (index === 0 || index > STATIC_SIZE) throw new RangeError(`there is no header ${index}`);
      refuseRequestHeader(index);
      if (isStatusAt(index)) onStatus(STATUSES[index - STATUS]!);
      else hasOthers = true;
      continue;
    }
    // A size of the table: ours has none.
    if ((first & 0xe0) === 0x20) {
      reader.number(5);
      continue;
    }
    const index = reader.number(first & 0x40 ? 6 : 4);
    if (index > STATIC_SIZE) throw new RangeError(`there is no header ${index}`);
    refuseRequestHeader(index);
    let isStatus = isStatusAt(index);
    let isRetry = index === RETRY_AFTER;
    if (index === 0) {
      // Of a success nothing but the status is asked for, so that its names need not be decoded.
      const isPseudo = reader.isAtColon;
      let name: string | undefined;
      if (isPseudo || status !== 200) name = reader.text();
      else reader.skip();
      isStatus = name === ":status";
      isRetry = name === "retry-after";
      if (isPseudo && !isStatus) throw new RangeError(`an answer has no header "${name}"`);
    }
    if (isStatus) {
      onStatus(statusOf(reader.text()));
      continue;
    }
    hasOthers = true;
    if (isRetry && status !== 200) retryAfter = reader.text();
    else reader.skip();
  }
  return status === undefined ? undefined : { status, retryAfter };
}

function isStatusAt(index: number): boolean {
  return index >= STATUS && index < STATUS + STATUSES.length;
}

/** The first entries of the table are pseudo headers that only a request has. */
function refuseRequestHeader(index: number): void {
  if (index > 0 && index < STATUS) throw new RangeError(`an answer has a header of requests: ${index} of the table`);
}

/** `Number` would take "0xc8" and " 200" as well. */
function statusOf(text: string): number {
  if (!/^[1-5][0-9]{2}$/.test(text)) throw new RangeError("a status is no number");
  return Number(text);
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

  /** Whether the text that follows begins with a colon, as names of pseudo headers do. Huffman's code of it is 1011100. */
  get isAtColon(): boolean {
    // Beyond its end there is no byte, and no colon.
    const length = this.#block[this.at] ?? 0;
    const first = this.#block[this.at + 1] ?? 0;
    return length < 128 ? length > 0 && first === 0x3a : first >> 1 === 0b1011100;
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
    const bytes = this.#bytes();
    return isHuffman ? huffman(bytes) : String.fromCharCode(...bytes);
  }

  /** Reads over a text. */
  skip(): void {
    const length = this.number(7);
    if (this.at + length > this.#block.length) throw new RangeError("a text is longer than what holds it");
    this.at += length;
  }

  /** A text as it was sent. */
  #bytes(): Uint8Array {
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
