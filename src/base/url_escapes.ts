/** Escapes in URLs, as Go's `net/url` parses and writes them. */
import { quoted, strayByte } from "./quoted.ts";

/** A part of a URL, with its own set of unescaped characters. */
export type UrlPart = "path" | "host" | "zone" | "user" | "query" | "fragment";

// Characters that are never escaped.
const UNRESERVED = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
// Additional characters that are not escaped in a part.
const PLAIN: { readonly [part in UrlPart]: ReadonlySet<string> } = {
  path: new Set(`${UNRESERVED}$&+,/:;=@`),
  host: new Set(`${UNRESERVED}!"$&'()*+,:;<=>[]`),
  zone: new Set(`${UNRESERVED}!"$&'()*+,:;<=>[]`),
  user: new Set(`${UNRESERVED}$&+,;=`),
  query: new Set(UNRESERVED),
  fragment: new Set(`${UNRESERVED}!$&()*+,/:;=?@`),
};

/** An error in a URL, without the URL. */
export class UrlError extends Error {}

/** Returns whether a character needs no escape in a part of a URL. */
export function isPlain(character: string, part: UrlPart): boolean {
  return PLAIN[part].has(character);
}

/**
 * Decodes the escapes in a part of a URL.
 *
 * @throws {UrlError} If an escape or a character is invalid there.
 */
export function unescape(text: string, part: UrlPart): string {
  checkEscapes(text, part);
  const withSpaces = part === "query" ? text.replaceAll("+", " ") : text;
  if (!withSpaces.includes("%")) return withSpaces;
  const bytes: number[] = [];
  const escapes = /%([0-9a-fA-F]{2})|([^%]+)/g;
  for (const [, code, plain] of withSpaces.matchAll(escapes)) {
    if (code !== undefined) bytes.push(parseInt(code, 16));
    else for (const byte of toBytes(plain!)) bytes.push(byte);
  }
  return fromBytes(bytes);
}

function checkEscapes(text: string, part: UrlPart): void {
  const isHost = part === "host" || part === "zone";
  // Matches each escape, and in a host also each ASCII character.
  for (const match of text.matchAll(isHost ? /%([0-9a-fA-F]{2})?|[^\u0080-\uffff]/g : /%([0-9a-fA-F]{2})?/g)) {
    const [found, code] = match;
    if (found === "%") throw new UrlError(`invalid URL escape ${quoted(firstBytes(text.slice(match.index), 3))}`);
    if (code === undefined) {
      if (!isPlain(found, part)) throw new UrlError(`invalid character ${quoted(found)} in host name`);
    } else if (isHost && found !== "%25" && !mayEscape(parseInt(code, 16), part)) {
      throw new UrlError(`invalid URL escape ${quoted(found)}`);
    }
  }
}

/**
 * Returns whether a byte may be escaped: in a host, only non-ASCII bytes; in a zone, only spaces
 * and characters that a host does not escape.
 */
function mayEscape(byte: number, part: UrlPart): boolean {
  if (part === "host") return byte >= 0x80;
  return byte === 0x20 || byte < 0x80 && isPlain(String.fromCharCode(byte), "host");
}

/** Escapes a part of a URL. */
export function escape(text: string, part: UrlPart): string {
  let result = "";
  for (const byte of toBytes(text)) {
    const character = String.fromCharCode(byte);
    result += isPlain(character, part) ? character : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return result;
}

function firstBytes(text: string, count: number): string {
  return fromBytes(toBytes(text.slice(0, count + 1)).slice(0, count));
}

function toBytes(text: string): Uint8Array | number[] {
  const encoder = new TextEncoder();
  if (text.isWellFormed()) return encoder.encode(text);
  return [...text].flatMap((character) => {
    const code = character.charCodeAt(0);
    return code >= 0xdc80 && code <= 0xdcff ? [code - 0xdc00] : [...encoder.encode(character)];
  });
}

/** Decodes UTF-8; invalid bytes become stray bytes. */
function fromBytes(bytes: Uint8Array | readonly number[]): string {
  return decoded(bytes) ?? fromMixedBytes(bytes);
}

function fromMixedBytes(bytes: Uint8Array | readonly number[]): string {
  let result = "";
  for (let i = 0; i < bytes.length;) {
    const length = sequenceLength(bytes[i]!);
    const character = decoded(bytes.slice(i, i + length));
    result += character ?? strayByte(bytes[i]!);
    i += character === undefined ? 1 : length;
  }
  return result;
}

/** Returns the length of a UTF-8 sequence by its first byte. */
function sequenceLength(first: number): number {
  if (first < 0x80) return 1;
  return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
}

function decoded(bytes: Uint8Array | readonly number[]): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(new Uint8Array(bytes));
  } catch {
    return undefined;
  }
}
