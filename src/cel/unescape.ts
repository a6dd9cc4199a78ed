/** Decodes string and bytes literals (cel-go, parser/unescape.go). */

const ESCAPE = /\\(?:([abfnrtv"'\\?`])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2}))/g;
const CONTROLS: { readonly [letter: string]: string } = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/**
 * Returns the value of a string literal.
 *
 * @param literal The literal with its quotes, as the lexer returns it.
 * @throws {SyntaxError} If an escape sequence is not a valid code point.
 */
export function unescapeString(literal: string): string {
  const { body, isRaw } = bodyOf(literal);
  if (isRaw || !body.includes("\\")) return body;
  return body.replace(ESCAPE, (_, letter, byte, short, long, octal) => {
    if (letter !== undefined) return CONTROLS[letter] ?? letter;
    const code = octal === undefined ? parseInt(byte ?? short ?? long, 16) : parseInt(octal, 8);
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) throw new SyntaxError("invalid unicode code point");
    return String.fromCodePoint(code);
  });
}

/**
 * Returns the value of a bytes literal: its text in UTF-8, with escapes as single bytes.
 *
 * @param literal The literal with its `b` and its quotes, as the lexer returns it.
 * @throws {SyntaxError} If an escape sequence is a code point rather than a byte.
 */
export function unescapeBytes(literal: string): Uint8Array {
  const { body, isRaw } = bodyOf(literal.slice(1));
  const encoder = new TextEncoder();
  if (isRaw || !body.includes("\\")) return encoder.encode(body);
  const bytes: number[] = [];
  let end = 0;
  for (const match of body.matchAll(ESCAPE)) {
    const [text, letter, byte, , , octal] = match;
    bytes.push(...encoder.encode(body.slice(end, match.index)));
    end = match.index + text.length;
    if (letter !== undefined) bytes.push((CONTROLS[letter] ?? letter).charCodeAt(0));
    else if (byte !== undefined) bytes.push(parseInt(byte, 16));
    else if (octal !== undefined) bytes.push(parseInt(octal, 8));
    else throw new SyntaxError("unable to unescape string");
  }
  bytes.push(...encoder.encode(body.slice(end)));
  return Uint8Array.from(bytes);
}

function bodyOf(literal: string): { body: string; isRaw: boolean } {
  const isRaw = /^[rR]/.test(literal);
  const quoted = (isRaw ? literal.slice(1) : literal).replace(/\r\n?/g, "\n");
  const marks = quoted.length >= 6 && /^("""|''')/.test(quoted) ? 3 : 1;
  return { body: quoted.slice(marks, -marks), isRaw };
}
