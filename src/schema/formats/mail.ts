/**
 * Mail addresses as Go parses them (`net/mail`, ParseAddress): plain, with a name before angle
 * brackets, or as the only member of a group.
 */
import { isAddress } from "./network.ts";

/**
 * Returns whether a string is one mail address.
 *
 * @param text The string.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert(isMailAddress("Ada <ada@example.com>"));
 * assert(!isMailAddress("ada@"));
 * ```
 */
export function isMailAddress(text: string): boolean {
  const reader = new Reader(text);
  return reader.address(true) === 1 && reader.skipComments() && reader.isAtEnd;
}

const SPECIALS = '()<>[]:;@\\,"';

function isVisible(character: string): boolean {
  return (character >= "!" && character <= "~") || character > "\x7f";
}

function isBlank(character: string): boolean {
  return character === " " || character === "\t";
}

class Reader {
  #at = 0;

  constructor(readonly text: string) {}

  get isAtEnd(): boolean {
    return this.#at >= this.text.length;
  }

  get #next(): string {
    return this.text[this.#at] ?? "";
  }

  /**
   * Parses an address or a group of addresses, and returns their number, or `undefined` on failure.
   */
  address(mayBeGroup: boolean): number | undefined {
    this.#skipBlanks();
    if (this.isAtEnd) return undefined;
    if (this.#plainAddress()) {
      this.#skipBlanks();
      return this.#next === "(" ? this.#once(this.#take("(") && this.#comment()) : 1;
    }
    if (this.#next !== "<" && !this.#phrase()) return undefined;
    this.#skipBlanks();
    if (mayBeGroup && this.#take(":")) return this.#group();
    return this.#once(this.#take("<") && this.#plainAddress() && this.#take(">"));
  }

  #once(isRead: boolean): number | undefined {
    return isRead ? 1 : undefined;
  }

  #group(): number | undefined {
    let count = 0;
    this.#skipBlanks();
    while (!this.#take(";")) {
      if (count > 0 && !this.#take(",")) return undefined;
      this.#skipBlanks();
      const read = this.address(false);
      if (read === undefined || !this.skipComments()) return undefined;
      count += read;
    }
    return this.skipComments() ? count : undefined;
  }

  /** Parses `local@domain`. On failure it consumes no input. */
  #plainAddress(): boolean {
    const start = this.#at;
    this.#skipBlanks();
    const local = this.#next === '"' ? this.#quoted() : this.#dotted();
    if (local !== undefined && local !== "" && this.#take("@")) {
      this.#skipBlanks();
      if (this.#next === "[" ? this.#literalDomain() : this.#dotted() !== undefined) return true;
    }
    this.#at = start;
    return false;
  }

  /** Parses one or more words and quoted strings. */
  #phrase(): boolean {
    let words = 0;
    while (true) {
      if (words > 0 && !this.skipComments()) return false;
      this.#skipBlanks();
      if (this.isAtEnd) return words > 0;
      const word = this.#next === '"' ? this.#quoted() : this.#atom();
      if (word === undefined) return words > 0;
      words++;
    }
  }

  #quoted(): string | undefined {
    let content = "";
    for (let i = this.#at + 1; i < this.text.length; i++) {
      const character = this.text[i] ?? "";
      if (character === '"') {
        this.#at = i + 1;
        return content;
      }
      const isEscaped = character === "\\";
      const unescaped = isEscaped ? this.text[++i] ?? "" : character;
      if (!isVisible(unescaped) && !isBlank(unescaped)) return undefined;
      content += unescaped;
    }
    return undefined;
  }

  #atom(): string | undefined {
    const start = this.#at;
    while (!this.isAtEnd && isVisible(this.#next) && !SPECIALS.includes(this.#next)) this.#at++;
    return this.#at === start ? undefined : this.text.slice(start, this.#at);
  }

  /** Parses an atom that may contain single dots. */
  #dotted(): string | undefined {
    const atom = this.#atom();
    return atom === undefined || /^\.|\.\.|\.$/.test(atom) ? undefined : atom;
  }

  #literalDomain(): boolean {
    const end = this.text.indexOf("]", this.#at);
    if (end === -1) return false;
    const address = this.text.slice(this.#at + 1, end);
    this.#at = end + 1;
    return isAddress(address);
  }

  /** Skips blanks and comments; returns false if a comment is not closed. */
  skipComments(): boolean {
    this.#skipBlanks();
    while (this.#take("(")) {
      if (!this.#comment()) return false;
      this.#skipBlanks();
    }
    return true;
  }

  /** Skips the rest of a comment, including nested comments. */
  #comment(): boolean {
    let depth = 1;
    while (!this.isAtEnd && depth > 0) {
      if (this.#next === "\\" && this.#at + 1 < this.text.length) this.#at++;
      else if (this.#next === "(") depth++;
      else if (this.#next === ")") depth--;
      this.#at++;
    }
    return depth === 0;
  }

  #skipBlanks(): void {
    while (isBlank(this.#next)) this.#at++;
  }

  #take(character: string): boolean {
    if (this.#next !== character) return false;
    this.#at++;
    return true;
  }
}
