/** A cursor over the tokens of an expression. */
import { type Token, tokenize } from "./lexer.ts";
import { GrammarError } from "./grammar_error.ts";

/** A cursor over tokens. It never moves past the last one, `end`. */
export class TokenStream {
  readonly #tokens: readonly Token[];
  #at = 0;

  /** @param text The expression. */
  constructor(text: string) {
    this.#tokens = tokenize(text);
  }

  /** Returns the current token, or a later one. */
  peek(ahead: number = 0): Token {
    return this.#tokens[Math.min(this.#at + ahead, this.#tokens.length - 1)]!;
  }

  /** Returns the current token and advances. */
  next(): Token {
    const token = this.peek();
    this.#at++;
    return token;
  }

  /** Advances by a number of tokens. */
  advance(count: number): void {
    this.#at += count;
  }

  /** Returns whether the current token is of a kind. */
  is(kind: string): boolean {
    return this.peek().kind === kind;
  }

  /** Advances if the current token is of a kind, and returns whether it was. */
  skip(kind: string): boolean {
    if (!this.is(kind)) return false;
    this.#at++;
    return true;
  }

  /**
   * Returns the current token, which must be of a kind, and advances.
   *
   * @param kind The kind.
   * @param expected The expected syntax, for the error message. @default the kind in quotes
   * @throws {GrammarError} If the token is of another kind.
   */
  expect(kind: string, expected: string = `"${kind}"`): Token {
    const token = this.next();
    if (token.kind !== kind) throw new GrammarError(token, expected);
    return token;
  }
}
