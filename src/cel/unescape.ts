/** String and bytes literals into what they stand for (cel-go, parser/unescape.go). */

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
 * The text that a string literal stands for.
 *
 * @param literal The literal with its quotes, as the lexer has it.
 * @throws {SyntaxError} If an escape names no character.
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
 * The bytes that a bytes literal stands for: its text in UTF-8, escapes as single bytes.
 *
 * @param literal The literal with its `b` and its quotes, as the lexer has it.
 * @throws {SyntaxError} If an escape names a character rather than a byte.
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
