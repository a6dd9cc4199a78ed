/** Go's messages for malformed JSON (`encoding/json`, scanner.go), which responses quote. */

const WHITE = new Set([" ", "\t", "\r", "\n"]);
const END = "unexpected end of JSON input";

// The maximum depth of Go's decoder.
const MAX_DEPTH = 10_000;

/** Returns Go's message for JSON that exceeds the maximum depth; `undefined` if it does not. */
export function depthError(text: string): string | undefined {
  if (text.length <= MAX_DEPTH) return undefined;
  let depth = 0;
  for (const [part] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]]/g)) {
    if (part === "{" || part === "[") depth++;
    else if (part === "}" || part === "]") depth--;
    if (depth > MAX_DEPTH) return `invalid character '${part}' exceeded max depth`;
  }
  return undefined;
}

/**
 * Returns Go's message for a string that is not valid JSON.
 *
 * @param text The string.
 * @returns The message; `undefined` if the string is valid JSON.
 */
export function jsonTextError(text: string): string | undefined {
  const tooDeep = depthError(text);
  if (tooDeep !== undefined) return tooDeep;
  // Go reads bytes, so its messages contain the first byte of a multi-byte character.
  let bytes = "";
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte);
  return jsonBytesError(bytes);
}

/**
 * Returns Go's message for bytes that are not valid JSON.
 *
 * @param bytes The bytes, each as a character of Latin-1.
 */
export function jsonBytesError(bytes: string): string | undefined {
  const scanner = new Scanner(bytes);
  return scanner.value("looking for beginning of value") ?? scanner.end();
}

class Scanner {
  #at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads a value, and returns the message if it is malformed. */
  value(context: string): string | undefined {
    const character = this.#next();
    switch (character) {
      case undefined:
        return END;
      case "{":
        return this.#object();
      case "[":
        return this.#array();
      case '"':
        return this.#string();
      case "t":
        return this.#literal("true");
      case "f":
        return this.#literal("false");
      case "n":
        return this.#literal("null");
      default:
        return character === "-" || isDigit(character) ? this.#number(character) : error(character, context);
    }
  }

  /** Checks that only white space follows the value. */
  end(): string | undefined {
    const character = this.#next();
    return character === undefined ? undefined : error(character, "after top-level value");
  }

  #next(): string | undefined {
    while (WHITE.has(this.#text[this.#at] ?? "")) this.#at++;
    return this.#take();
  }

  #take(): string | undefined {
    return this.#text[this.#at] === undefined ? undefined : this.#text[this.#at++];
  }

  #object(): string | undefined {
    for (let isFirst = true;; isFirst = false) {
      const key = this.#next();
      if (key === undefined) return END;
      if (key === "}" && isFirst) return undefined;
      if (key !== '"') return error(key, "looking for beginning of object key string");
      const wrong = this.#string();
      if (wrong !== undefined) return wrong;
      const colon = this.#next();
      if (colon === undefined) return END;
      if (colon !== ":") return error(colon, "after object key");
      const bad = this.value("looking for beginning of value");
      if (bad !== undefined) return bad;
      const after = this.#next();
      if (after === undefined) return END;
      if (after === "}") return undefined;
      if (after !== ",") return error(after, "after object key:value pair");
    }
  }

  #array(): string | undefined {
    const before = this.#at;
    if (this.#next() === "]") return undefined;
    this.#at = before;
    while (true) {
      const bad = this.value("looking for beginning of value");
      if (bad !== undefined) return bad;
      const after = this.#next();
      if (after === undefined) return END;
      if (after === "]") return undefined;
      if (after !== ",") return error(after, "after array element");
    }
  }

  #string(): string | undefined {
    for (let character = this.#take(); character !== '"'; character = this.#take()) {
      if (character === undefined) return END;
      if (character < " ") return error(character, "in string literal");
      if (character !== "\\") continue;
      const escape = this.#take();
      if (escape === undefined) return END;
      if (escape === "u") {
        for (let i = 0; i < 4; i++) {
          const digit = this.#take();
          if (digit === undefined) return END;
          if (!/[0-9a-fA-F]/.test(digit)) return error(digit, "in \\u hexadecimal character escape");
        }
      } else if (!'"\\/bfnrt'.includes(escape)) return error(escape, "in string escape code");
    }
    return undefined;
  }

  #literal(word: string): string | undefined {
    for (const expected of word.slice(1)) {
      const character = this.#take();
      if (character === undefined) return END;
      if (character !== expected) return error(character, `in literal ${word} (expecting '${expected}')`);
    }
    return undefined;
  }

  #number(first: string): string | undefined {
    let character: string | undefined = first;
    if (character === "-") {
      character = this.#take();
      if (character === undefined) return END;
      if (!isDigit(character)) return error(character, "in numeric literal");
    }
    if (character !== "0") this.#digits();
    if (this.#text[this.#at] === ".") {
      this.#at++;
      const wrong = this.#digit("after decimal point in numeric literal");
      if (wrong !== undefined) return wrong;
    }
    if (/^[eE]/.test(this.#text.slice(this.#at, this.#at + 1))) {
      this.#at++;
      if (/^[+-]/.test(this.#text.slice(this.#at, this.#at + 1))) this.#at++;
      return this.#digit("in exponent of numeric literal");
    }
    return undefined;
  }

  #digit(context: string): string | undefined {
    const character = this.#take();
    if (character === undefined) return END;
    if (!isDigit(character)) return error(character, context);
    this.#digits();
    return undefined;
  }

  #digits(): void {
    while (isDigit(this.#text[this.#at] ?? "")) this.#at++;
  }
}

function isDigit(character: string): boolean {
  return character >= "0" && character <= "9" && character.length === 1;
}

function error(character: string, context: string): string {
  return `invalid character ${quotedByte(character.charCodeAt(0))} ${context}`;
}

function quotedByte(byte: number): string {
  const named: Readonly<Record<number, string>> = {
    0x07: "\\a",
    0x08: "\\b",
    0x0c: "\\f",
    0x0a: "\\n",
    0x0d: "\\r",
    0x09: "\\t",
    0x0b: "\\v",
    0x5c: "\\\\",
    0x27: "\\'",
    0x22: '"',
  };
  const name = named[byte];
  if (name !== undefined) return `'${name}'`;
  if (byte < 0x20 || byte === 0x7f) return `'\\x${byte.toString(16).padStart(2, "0")}'`;
  if (byte >= 0x80 && (byte <= 0xa0 || byte === 0xad)) return `'\\u${byte.toString(16).padStart(4, "0")}'`;
  return `'${String.fromCharCode(byte)}'`;
}
