/** The tokens of an expression, one after the other. */
import { type Token, tokensOf } from "./lexer.ts";
import { SyntaxFault } from "./syntax_fault.ts";

/** Tokens, and a place among them. The last one is the end, which there is no going beyond. */
export class TokenStream {
  readonly #tokens: readonly Token[];
  #at = 0;

  /** @param text The expression. */
  constructor(text: string) {
    this.#tokens = tokensOf(text);
  }

  /** The token here, or one further on. */
  peek(ahead: number = 0): Token {
    return this.#tokens[Math.min(this.#at + ahead, this.#tokens.length - 1)]!;
  }

  /** The token here, and goes on. */
  next(): Token {
    const token = this.peek();
    this.#at++;
    return token;
  }

  /** Goes on by a number of tokens. */
  advance(count: number): void {
    this.#at += count;
  }

  /** Whether the token here is of a kind. */
  is(kind: string): boolean {
    return this.peek().kind === kind;
  }

  /** Goes on where the token here is of a kind, and says whether it was. */
  skip(kind: string): boolean {
    if (!this.is(kind)) return false;
    this.#at++;
    return true;
  }

  /**
   * Returns the current token, which must be of a kind, and advances.
   *
   * @param kind The kind.
   * @param expected What the error message says was expected. @default the kind in quotes
   * @throws {SyntaxFault} If the token is of another kind.
   */
  expect(kind: string, expected: string = `"${kind}"`): Token {
    const token = this.next();
    if (token.kind !== kind) throw new SyntaxFault(token, expected);
    return token;
  }
}
