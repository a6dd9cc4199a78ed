/** Text of an expression into tokens (cel-go, parser/gen/CEL.g4). */

/** What a token is: the text itself for punctuation and keywords. */
export type TokenKind = string;

/** A piece of the text. */
export interface Token {
  /** `identifier`, `escaped`, `int`, `uint`, `float`, `string`, `bytes`, `end`, or the text of an operator or keyword. */
  readonly kind: TokenKind;
  readonly text: string;
  /** In UTF-16 units from the start of the text. */
  readonly offset: number;
}

/** A text begins with no token. */
export class TokenError extends Error {
  override name = "TokenError";
  constructor(readonly offset: number) {
    super(`no token at ${offset}`);
  }
}

const SPACE = /(?:[\t \r\n\f]+|\/\/[^\n]*)+/.source;
const FLOAT = /[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?/.source;
const INT = /0x[0-9a-fA-F]+|[0-9]+/.source;
const ESCAPE = /\\(?:[abfnrtv"'\\?`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})/.source;
const STRING = [
  `"""(?:${ESCAPE}|[^\\\\])*?"""`,
  `'''(?:${ESCAPE}|[^\\\\])*?'''`,
  `"(?:${ESCAPE}|[^\\\\"\\n\\r])*"`,
  `'(?:${ESCAPE}|[^\\\\'\\n\\r])*'`,
  `[rR](?:"""[^]*?"""|'''[^]*?'''|"[^"\\n\\r]*"|'[^'\\n\\r]*')`,
].join("|");
const PUNCTUATION = /==|!=|<=|>=|&&|\|\||[[\]{}().,!?:+*/%<>-]/.source;

// The longest token wins, so that each comes before those that it begins with.
const TOKEN = new RegExp(
  [
    SPACE,
    FLOAT,
    `(?:${INT})[uU]`,
    INT,
    `[bB](?:${STRING})`,
    STRING,
    "[A-Za-z_][A-Za-z0-9_]*",
    "`[A-Za-z0-9_.\\-/ ]+`",
    PUNCTUATION,
  ].map((part) => `(${part})`).join("|"),
  "y",
);
const KINDS = [undefined, "space", "float", "uint", "int", "bytes", "string", "identifier", "escaped"];
const KEYWORDS: ReadonlySet<string> = new Set(["in", "true", "false", "null"]);

/**
 * The tokens of a text; the last one is of the kind `end`.
 *
 * @param text The text.
 * @throws {TokenError} If something in it is no token.
 */
export function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let offset = 0; offset < text.length;) {
    const token = tokenAt(text, offset);
    if (token.kind !== "space") tokens.push(token);
    offset += token.text.length;
  }
  tokens.push({ kind: "end", text: "<EOF>", offset: text.length });
  return tokens;
}

/**
 * The token at a place of a text; of the kind `space` for what is between tokens.
 *
 * @param text The text.
 * @param offset The place, before its end.
 * @throws {TokenError} If there is none.
 */
export function tokenAt(text: string, offset: number): Token {
  TOKEN.lastIndex = offset;
  const match = TOKEN.exec(text);
  if (match === null) throw new TokenError(offset);
  const found = match[0];
  const kind = KEYWORDS.has(found) ? found : KINDS[match.indexOf(found, 1)] ?? found;
  return { kind, text: found, offset };
}
