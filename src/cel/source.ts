/** The text of an expression, and messages that point into it as cel-go's do (common/source.go, common/error.go). */

/** Something is wrong with an expression: at a place of it, or with all of it. */
export interface Issue {
  /** Where, in UTF-16 units from the start; nothing where it is about the whole, and below 0 where cel-go has lost the place. */
  readonly offset: number | undefined;
  readonly message: string;
}

// As many as cel-go tells of; the rest is counted.
const MOST_ISSUES = 100;

/** What is wrong with an expression, gathered. */
export class Issues {
  readonly #issues: Issue[] = [];

  constructor(readonly text: string) {}

  /** How many there are. */
  get size(): number {
    return this.#issues.length;
  }

  add(offset: number | undefined, message: string): void {
    this.#issues.push({ offset, message });
  }

  /** All of them in the order of their places: each with the line of the text, and a mark below it. */
  toString(): string {
    const told = this.#issues.slice(0, MOST_ISSUES).map((issue) => ({ ...issue, place: this.#placeOf(issue.offset) }));
    told.sort((a, b) => a.place.line - b.place.line || a.place.column - b.place.column);
    const lines = told.map(({ place, message }) =>
      `ERROR: <input>:${place.line}:${place.column + 1}: ${message}${this.#excerpt(place)}`
    );
    if (this.#issues.length > MOST_ISSUES) {
      lines.push(`${this.#issues.length - MOST_ISSUES} more errors were truncated`);
    }
    return lines.join("\n");
  }

  #placeOf(offset: number | undefined): Place {
    if (offset === undefined) return { line: -1, column: -1 };
    if (this.text === "" || offset < 0) return { line: 1, column: -1 };
    const before = this.text.slice(0, offset).split("\n");
    return { line: before.length, column: [...before.at(-1)!].length };
  }

  #excerpt({ line, column }: Place): string {
    const text = line < 1 || this.text === "" ? undefined : this.text.split("\n")[line - 1];
    if (text === undefined || new TextEncoder().encode(text).length > LONGEST_EXCERPT) return "";
    const characters = [...text.replaceAll("\t", " ")];
    const marks = characters.slice(0, Math.max(0, column)).map((character) => isWide(character) ? "\uff0e" : ".").join(
      "",
    );
    return `\n | ${characters.join("")}\n | ${marks}${isWide(characters[column]) ? "\uff3e" : "^"}`;
  }
}

interface Place {
  /** From 1; -1 where there is none. */
  readonly line: number;
  /** From 0, in characters. */
  readonly column: number;
}

// In bytes; longer lines are left out of the message.
const LONGEST_EXCERPT = 16384;

function isWide(character: string | undefined): boolean {
  return character !== undefined && character.codePointAt(0)! > 0x7f;
}
