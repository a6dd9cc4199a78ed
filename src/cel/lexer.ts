/** Splits an expression into tokens (cel-go, parser/gen/CEL.g4). */

/** The kind of a token. For punctuation and keywords it is the text itself. */
export type TokenKind = string;

/** A token. */
export interface Token {
  /**
   * `identifier`, `escaped`, `int`, `uint`, `float`, `string`, `bytes`, `invalid`, `end`, or the
   * text of an operator or keyword.
   */
  readonly kind: TokenKind;
  readonly text: string;
  /** In UTF-16 units from the start of the text. */
  readonly offset: number;
}

const SPACE = /(?:[\t \r\n\f]+|\/\/[^\n]*)+/.source;
const FLOAT = /[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?/.source;
const INT = /0x[0-9a-fA-F]+|[0-9]+/.source;

/** Source of a regular expression that matches an escape sequence of a string literal. */
export const ESCAPE = /\\(?:[abfnrtv"'\\?`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})/.source;
const STRING = [
  `"""(?:${ESCAPE}|[^\\\\])*?"""`,
  `'''(?:${ESCAPE}|[^\\\\])*?'''`,
  `"(?:${ESCAPE}|[^\\\\"\\n\\r])*"`,
  `'(?:${ESCAPE}|[^\\\\'\\n\\r])*'`,
  `[rR](?:"""[^]*?"""|'''[^]*?'''|"[^"\\n\\r]*"|'[^'\\n\\r]*')`,
].join("|");
const PUNCTUATION = /==|!=|<=|>=|&&|\|\||[[\]{}().,!?:+*/%<>-]/.source;

// The longest token wins, so each alternative comes before its prefixes.
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
 * Splits an expression into tokens. The last one is of the kind `end`.
 *
 * @param text The expression.
 * @returns The tokens. Characters that match no token become one of the kind `invalid`, and the
 * scan stops there.
 */
export function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let offset = 0; offset < text.length;) {
    const token = tokenAt(text, offset);
    if (token.kind !== "space") tokens.push(token);
    if (token.kind === "invalid") break;
    offset += token.text.length;
  }
  tokens.push({ kind: "end", text: "", offset: text.length });
  return tokens;
}

function tokenAt(text: string, offset: number): Token {
  TOKEN.lastIndex = offset;
  const match = TOKEN.exec(text);
  if (match === null) return { kind: "invalid", text: text.slice(offset), offset };
  const found = match[0];
  const kind = KEYWORDS.has(found) ? found : KINDS[match.indexOf(found, 1)] ?? found;
  return { kind, text: found, offset };
}
