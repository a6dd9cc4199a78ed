// Made by tools/cli_internal.ts from src/base/_json_path_parse.ts: do not edit.
export type Step =
  | { readonly kind: "list"; readonly steps: readonly Step[] }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "number"; readonly value: number; readonly isInteger: boolean }
  | { readonly kind: "boolean"; readonly value: boolean }
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "slice"; readonly slice: Slice }
  | {
    readonly kind: "filter";
    readonly left: readonly Step[];
    readonly operator: string;
    readonly right: readonly Step[];
  }
  | { readonly kind: "union"; readonly choices: readonly (readonly Step[])[] }
  | { readonly kind: "wildcard" }
  | { readonly kind: "recursive" }
  | { readonly kind: "word"; readonly word: string };

export interface Slice {
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly step: number | undefined;
  readonly isIndex: boolean;
}

export function parseTemplate(text: string): readonly Step[] {
  return new Reader(text).template();
}

const SPACE = /[ \t\r\n]/;
const TERMINATOR = /[ \t\r\n.,[\]$@{}]/;
const DIGIT = /\p{Nd}/u;
const WORD = /[_\p{L}\p{Nd}]/u;

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  template(): readonly Step[] {
    const steps: Step[] = [];
    while (this.#at < this.#text.length) {
      const open = this.#text.indexOf("{", this.#at);
      const end = open < 0 ? this.#text.length : open;
      if (end > this.#at) steps.push({ kind: "text", text: this.#text.slice(this.#at, end) });
      this.#at = end;
      if (open < 0) break;
      this.#at++;
      steps.push({ kind: "list", steps: this.#action() });
    }
    return steps;
  }

  #action(): readonly Step[] {
    const steps: Step[] = [];
    while (true) {
      if (this.#accept("}")) return steps;
      if (this.#accept("[?(")) steps.push(this.#filter());
      else if (this.#accept("..")) this.#recursive(steps);
      else {
        const character = this.#next();
        if (character === undefined || character === "\n" || character === "\r") {
          throw new SyntaxError("unclosed action");
        }
        if (character === " " || character === "@" || character === "$") continue;
        if (character === "[") steps.push(...this.#array());
        else if (character === '"' || character === "'") steps.push(this.#quoted(character));
        else if (character === ".") steps.push(this.#field());
        else if (character === "+" || character === "-" || DIGIT.test(character)) steps.push(this.#number(character));
        else if (WORD.test(character)) steps.push(this.#word(character));
        else throw new SyntaxError(`unrecognized character in action: ${unicode(character)}`);
      }
    }
  }

  #accept(prefix: string): boolean {
    if (!this.#text.startsWith(prefix, this.#at)) return false;
    this.#at += prefix.length;
    return true;
  }

  #next(): string | undefined {
    const code = this.#text.codePointAt(this.#at);
    if (code === undefined) return undefined;
    const character = String.fromCodePoint(code);
    this.#at += character.length;
    return character;
  }

  #peek(): string {
    return this.#text[this.#at] ?? "";
  }

  #recursive(steps: Step[]): void {
    if (steps.at(-1)?.kind === "recursive") throw new SyntaxError("invalid multiple recursive descent");
    steps.push({ kind: "recursive" });
    if (WORD.test(this.#peek())) steps.push(this.#field());
  }

  #field(): Step {
    let name = "";
    while (this.#at < this.#text.length && !TERMINATOR.test(this.#peek())) {
      const character = this.#next();
      name += character === "\\" ? (this.#next() ?? "").replace("\\", "") : character;
    }
    return name === "*" ? { kind: "wildcard" } : { kind: "field", name };
  }

  #number(first: string): Step {
    let text = first;
    while (/[.\p{Nd}]/u.test(this.#peek())) text += this.#next();
    if (/^[+-]?\d+$/.test(text)) return { kind: "number", value: Number(text), isInteger: true };
    if (!/^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(text)) throw new SyntaxError(`cannot parse number ${text}`);
    return { kind: "number", value: Number(text), isInteger: false };
  }

  #word(first: string): Step {
    let word = first;
    while (this.#at < this.#text.length && !TERMINATOR.test(this.#peek())) word += this.#next();
    return word === "true" || word === "false" ? { kind: "boolean", value: word === "true" } : { kind: "word", word };
  }

  #quoted(quote: string): Step {
    const start = this.#at - 1;
    while (true) {
      const character = this.#next();
      if (character === undefined || character === "\n") throw new SyntaxError("unterminated quoted string");
      if (character === quote && this.#text[this.#at - 2] !== "\\") break;
    }
    return { kind: "text", text: unquoted(this.#text.slice(start, this.#at)) };
  }

  #array(): readonly Step[] {
    const start = this.#at;
    const end = this.#text.indexOf("]", start);
    const text = end < 0 ? "" : this.#text.slice(start, end);
    if (end < 0 || text.includes("\n")) throw new SyntaxError("unterminated array");
    this.#at = end + 1;
    const choices = text.split(",");
    if (choices.length > 1) {
      return [{ kind: "union", choices: choices.map((each) => action(`[${each.replace(/^ +| +$/g, "")}]`)) }];
    }
    const [, key] = /^'([^']*)'$/.exec(text) ?? [];
    return key === undefined ? [{ kind: "slice", slice: slice(text === "*" ? ":" : text) }] : action(`.${key}`);
  }

  #filter(): Step {
    const text = this.#filterText();
    if (this.#next() !== "]") throw new SyntaxError("unclosed array expect ]");
    const [, left, operator, right] = /^([^!<>=]+)([!<>=]+)(.+?)$/.exec(text) ?? [];
    if (left === undefined || operator === undefined || right === undefined) {
      return { kind: "filter", left: action(text), operator: "exists", right: [] };
    }
    return { kind: "filter", left: action(left), operator, right: action(right) };
  }

  #filterText(): string {
    const start = this.#at;
    let quote: string | undefined;
    let isClosed = false;
    while (true) {
      const character = this.#next();
      if (character === undefined || character === "\n") throw new SyntaxError("unterminated filter");
      if (character === '"' || character === "'") {
        if (quote === undefined) quote = character;
        else if (character === quote && this.#text[this.#at - 2] !== "\\") isClosed = true;
      } else if (character === ")" && (quote === undefined) === !isClosed) return this.#text.slice(start, this.#at - 1);
    }
  }
}

function action(text: string): readonly Step[] {
  const [first] = parseTemplate(`{${text}}`);
  return first?.kind === "list" ? first.steps : [];
}

function slice(text: string): Slice {
  const match = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/.exec(text);
  if (match === null) throw new SyntaxError(`invalid array index ${text}`);
  const [, from = "", to, step] = match;
  const first = from === "" ? undefined : index(from);
  const isIndex = to === undefined;
  return {
    from: first,
    to: isIndex ? (first ?? 0) + 1 : bound(to),
    step: step === undefined ? undefined : bound(step),
    isIndex,
  };
}

function bound(text: string): number | undefined {
  return text === ":" ? undefined : index(text.slice(1));
}

function index(text: string): number {
  if (!/^-?\d+$/.test(text)) throw new SyntaxError(`array index ${text} is not a number`);
  return Number(text);
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  "'": "'",
  '"': '"',
};

const ESCAPE = /\\(?:([abfnrtv\\'"])|([0-7]{3})|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))|\\/g;

function unquoted(text: string): string {
  return text.slice(1, -1).replaceAll(ESCAPE, (sequence, plain, octal, ...hexadecimal) => {
    if (plain !== undefined && (plain !== '"' && plain !== "'" || plain === text[0])) return ESCAPES[plain] ?? "";
    const digits = hexadecimal.slice(0, 3).find((each) => each !== undefined);
    const code = octal !== undefined ? parseInt(octal, 8) : digits === undefined ? NaN : parseInt(digits, 16);
    if (code > 0x10ffff || Number.isNaN(code) || sequence === "\\") {
      throw new SyntaxError(`unquote string ${text} error invalid syntax`);
    }
    return String.fromCodePoint(code);
  });
}

function unicode(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return SPACE.test(character) ? `U+${code}` : `U+${code} '${character}'`;
}
