/** Tokens of a text of which a part may be none (ANTLR's `Lexer`). */
import { type Token, tokenAt, TokenError } from "../lexer.ts";

const ESCAPE = /\\(?:[abfnrtv"'\\?`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})/.source;
const ESCAPE_BEGUN = /\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?/.source;
// What could have become a token, up to the character that it could not be with.
const BEGUN = new RegExp(
  [
    `"(?:${ESCAPE}|[^\\\\"\\n\\r])*(?:${ESCAPE_BEGUN})?`,
    `'(?:${ESCAPE}|[^\\\\'\\n\\r])*(?:${ESCAPE_BEGUN})?`,
    "`[A-Za-z0-9_.\\-/ ]*",
    "[&|=]",
    "",
  ].join("|"),
  "y",
);

/** The tokens of a text, read when they are asked for. What is no token is told of then, and left out. */
export class TokenSource {
  readonly #text: string;
  readonly #tell: (offset: number, message: string) => void;
  readonly #tokens: Token[] = [];
  readonly #skipped: { readonly start: number; readonly end: number }[] = [];
  #offset = 0;

  constructor(text: string, tell: (offset: number, message: string) => void) {
    this.#text = text;
    this.#tell = tell;
  }

  /** A token by its place; after the last one comes one of the kind `end`, again and again. */
  at(index: number): Token {
    while (this.#tokens.length <= index) {
      const last = this.#tokens.at(-1);
      if (last?.kind === "end") return last;
      this.#tokens.push(this.#next());
    }
    return this.#tokens[index]!;
  }

  /** The text from a token to another one; without what is no token. */
  textOf(first: Token, last: Token): string {
    const end = last.kind === "end" ? this.#text.length : last.offset + last.text.length;
    let text = "";
    let from = first.offset;
    for (const skipped of this.#skipped) {
      if (skipped.start < from || skipped.start >= end) continue;
      text += this.#text.slice(from, skipped.start);
      from = skipped.end;
    }
    return text + this.#text.slice(from, end);
  }

  #next(): Token {
    while (this.#offset < this.#text.length) {
      const start = this.#offset;
      try {
        const token = tokenAt(this.#text, start);
        this.#offset += token.text.length;
        if (token.kind !== "space") return token;
      } catch (error) {
        if (!(error instanceof TokenError)) throw error;
        this.#skip(start);
      }
    }
    return { kind: "end", text: "<EOF>", offset: this.#text.length };
  }

  #skip(start: number): void {
    BEGUN.lastIndex = start;
    const [begun] = BEGUN.exec(this.#text)!;
    const [next = ""] = this.#text.slice(start + begun.length);
    this.#offset = start + begun.length + next.length;
    this.#skipped.push({ start, end: this.#offset });
    this.#tell(start, `token recognition error at: '${begun}${next}'`);
  }
}
