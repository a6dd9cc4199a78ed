/** Describes where an expression does not match the grammar, and what was expected there. */
import { ESCAPE, type Token } from "./lexer.ts";

/** A token that does not match the grammar. The parser stops at the first one. */
export class GrammarError extends Error {
  override name = "GrammarError";
  /** Where the token starts, in UTF-16 units from the start of the expression. */
  readonly offset: number;

  /**
   * @param token The token.
   * @param expected What the grammar allows in its place.
   */
  constructor(token: Token, expected: string) {
    super(token.kind === "invalid" ? describeInvalid(token.text) : describeUnexpected(token, expected));
    this.offset = token.offset;
  }
}

const LITERALS: Readonly<Record<string, string>> = {
  int: "number",
  uint: "number",
  float: "number",
  string: "string",
  bytes: "bytes literal",
};
const HINTS: Readonly<Record<string, string>> = {
  "=": 'Use "==" to compare',
  "&": 'Use "&&" for a logical AND',
  "|": 'Use "||" for a logical OR',
  and: 'Use "&&" for a logical AND',
  or: 'Use "||" for a logical OR',
};

function describeUnexpected({ kind, text }: Token, expected: string): string {
  const found = kind === "end" ? "end of input" : `${LITERALS[kind] ?? ""} ${quotedToken(kind, text)}`.trim();
  return `unexpected ${found}, expected ${expected}${hintFor(text)}`;
}

// A string literal already has quotes.
function quotedToken(kind: string, text: string): string {
  return LITERALS[kind] === undefined ? `"${text}"` : shorten(text);
}

const UNFINISHED = new RegExp(`^[bB]?(?:"(?:${ESCAPE}|[^\\\\"\\n\\r])*|'(?:${ESCAPE}|[^\\\\'\\n\\r])*)`);

/**
 * Describes text that matches no token: an unterminated literal, an invalid escape sequence, or an
 * unknown character.
 */
function describeInvalid(text: string): string {
  const literal = UNFINISHED.exec(text)?.[0];
  if (literal === undefined) {
    const character = String.fromCodePoint(text.codePointAt(0)!);
    return `unexpected character "${character}"${hintFor(character)}`;
  }
  if (text[literal.length] === "\\") {
    return `invalid escape sequence ${[...text.slice(literal.length)].slice(0, 2).join("")} in a string literal`;
  }
  return `string ${shorten(literal)} has no closing quote`;
}

function hintFor(text: string): string {
  const hint = HINTS[text];
  return hint === undefined ? "" : `. ${hint}`;
}

// The maximum length of a quoted literal in a message, in characters.
const MAX_LITERAL_LENGTH = 40;

function shorten(text: string): string {
  const characters = [...text.replaceAll("\r", "\\r").replaceAll("\n", "\\n")];
  return characters.length <= MAX_LITERAL_LENGTH
    ? characters.join("")
    : `${characters.slice(0, MAX_LITERAL_LENGTH).join("")}...`;
}
