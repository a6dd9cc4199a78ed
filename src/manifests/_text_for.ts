/**
 * Generates a string that matches a pattern. Samples need a short, plain string, not a random one.
 */

/**
 * Returns a string that matches a regular expression.
 *
 * @param pattern The pattern: literals, classes, groups, alternatives, repetitions and anchors.
 *   Other constructs are not supported.
 * @param minLength The minimum length.
 * @returns The string, or `undefined` if the pattern is not supported or no match was found.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(textFor("^v[0-9]+(\\.[0-9]+)?$"), "v0");
 * assert.equal(textFor("^[a-z]+$", 3), "aaa");
 * ```
 */
export function textFor(pattern: string, minLength = 0): string | undefined {
  let expression: RegExp;
  try {
    expression = new RegExp(pattern, "u");
  } catch {
    return undefined;
  }
  for (let extra = 0; extra <= MAX_EXTRA; extra++) {
    const text = new Sampler(pattern, extra).text();
    if (text === undefined) return undefined;
    if (text.length >= minLength && expression.test(text)) return text;
  }
  return undefined;
}

/** The maximum number of repetitions beyond the required ones. */
const MAX_EXTRA = 300;

/** The preferred characters of a class, best first, so that samples are readable. */
const PREFERRED = "a0A1-_./:+ ";

const CLASSES: Readonly<Record<string, string>> = { d: "0", w: "a", s: " ", D: "a", W: "-", S: "a" };

class Sampler {
  #at = 0;

  constructor(readonly pattern: string, readonly extra: number) {}

  text(): string | undefined {
    const text = this.#alternatives();
    return this.#at === this.pattern.length ? text : undefined;
  }

  get #next(): string {
    return this.pattern[this.#at] ?? "";
  }

  #alternatives(): string | undefined {
    const first = this.#sequence();
    while (this.#next === "|") {
      this.#at++;
      if (this.#sequence() === undefined) return undefined;
    }
    return first;
  }

  #sequence(): string | undefined {
    let text = "";
    while (this.#next !== "" && this.#next !== "|" && this.#next !== ")") {
      const atom = this.#atom();
      const times = this.#times();
      if (atom === undefined || times === undefined) return undefined;
      text += atom.repeat(times);
    }
    return text;
  }

  #atom(): string | undefined {
    const character = this.#next;
    this.#at++;
    if (character === "^" || character === "$") return "";
    if (character === ".") return "a";
    if (character === "(") return this.#group();
    if (character === "[") return this.#class();
    if (character === "\\") return this.#escape();
    return character;
  }

  #group(): string | undefined {
    const [prefix = ""] = /^\?(:|<[A-Za-z0-9_]+>|P<[A-Za-z0-9_]+>)/.exec(this.pattern.slice(this.#at)) ?? [];
    if (prefix === "" && this.#next === "?") return undefined;
    this.#at += prefix.length;
    const text = this.#alternatives();
    if (this.#next !== ")") return undefined;
    this.#at++;
    return text;
  }

  #escape(): string | undefined {
    const character = this.#next;
    this.#at++;
    if (/[bBAzZ]/.test(character)) return "";
    if (/[pPxuQ0-9]/.test(character)) return undefined;
    return CLASSES[character] ?? ({ n: "\n", t: "\t", r: "\r" }[character] ?? character);
  }

  #class(): string | undefined {
    const end = /^\^?\]?(?:\\.|\[:[a-z^]+:\]|[^\]\\])*\]/.exec(this.pattern.slice(this.#at))?.[0];
    if (end === undefined) return undefined;
    this.#at += end.length;
    try {
      const one = new RegExp(`^[${end}$`, "u");
      const printable = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index));
      return [...PREFERRED, ...printable].find((character) => one.test(character));
    } catch {
      return undefined;
    }
  }

  #times(): number | undefined {
    const [quantifier = "", minimum, comma, maximum] =
      /^(?:[*+?]|\{(\d+)(,)?(\d*)\})\??/.exec(this.pattern.slice(this.#at)) ??
        [];
    this.#at += quantifier.length;
    if (quantifier === "") return 1;
    const sign = quantifier[0];
    const least = sign === "{" ? Number(minimum) : sign === "+" ? 1 : 0;
    const most = sign === "?" ? 1 : sign !== "{" ? Infinity : comma === undefined ? least : Number(maximum || Infinity);
    return Math.min(least + this.extra, most);
  }
}
