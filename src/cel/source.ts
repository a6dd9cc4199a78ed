/**
 * Errors with positions in an expression, formatted as cel-go does (common/source.go,
 * common/error.go).
 */

/** An error in an expression. */
export interface Issue {
  /**
   * The position, in UTF-16 units; `undefined` for the whole expression, and negative if cel-go has
   * no position for it.
   */
  readonly offset: number | undefined;
  readonly message: string;
}

// cel-go prints at most this many errors, and the number of the others.
const MAX_ISSUES = 100;

/** The errors of an expression. */
export class Issues {
  readonly #issues: Issue[] = [];

  constructor(readonly text: string) {}

  /** The number of errors. */
  get size(): number {
    return this.#issues.length;
  }

  add(offset: number | undefined, message: string): void {
    this.#issues.push({ offset, message });
  }

  /** Returns all errors in order of position, each with an excerpt and a caret below it. */
  toString(): string {
    const reported = this.#issues.slice(0, MAX_ISSUES).map((issue) => ({
      ...issue,
      position: this.#positionOf(issue.offset),
    }));
    reported.sort((a, b) => a.position.line - b.position.line || a.position.column - b.position.column);
    const lines = reported.map(({ position, message }) =>
      `ERROR: <input>:${position.line}:${position.column + 1}: ${message}${this.#excerpt(position)}`
    );
    if (this.#issues.length > MAX_ISSUES) {
      lines.push(`${this.#issues.length - MAX_ISSUES} more errors were truncated`);
    }
    return lines.join("\n");
  }

  #positionOf(offset: number | undefined): Position {
    if (offset === undefined) return { line: -1, column: -1 };
    if (this.text === "" || offset < 0) return { line: 1, column: -1 };
    const before = this.text.slice(0, offset).split("\n");
    return { line: before.length, column: [...before.at(-1)!].length };
  }

  #excerpt({ line, column }: Position): string {
    const text = line < 1 || this.text === "" ? undefined : this.text.split("\n")[line - 1];
    if (text === undefined || new TextEncoder().encode(text).length > MAX_EXCERPT_BYTES) return "";
    const characters = [...text.replaceAll("\t", " ")];
    const marks = characters.slice(0, Math.max(0, column)).map((character) => isWide(character) ? "\uff0e" : ".").join(
      "",
    );
    return `\n | ${characters.join("")}\n | ${marks}${isWide(characters[column]) ? "\uff3e" : "^"}`;
  }
}

interface Position {
  /** From 1; -1 if there is none. */
  readonly line: number;
  /** From 0, in code points. */
  readonly column: number;
}

// In bytes; longer lines are omitted from the message.
const MAX_EXCERPT_BYTES = 16384;

function isWide(character: string | undefined): boolean {
  return character !== undefined && character.codePointAt(0)! > 0x7f;
}
