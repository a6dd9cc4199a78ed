/**
 * Splits a TypeScript module into tokens, with just enough detail to match brackets and skip
 * strings and comments.
 */

/** A word, number, sign, string or comment of a module. */
export interface Token {
  readonly type: "word" | "number" | "text" | "sign" | "comment";
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Words after which a slash begins a regular expression instead of a division. */
const BEFORE_PATTERN = new Set([
  ..."await case delete do else in instanceof new of return throw typeof void yield".split(" "),
]);

/**
 * Splits a module into tokens.
 *
 * @param code The module.
 * @throws {SyntaxError} If a string, a comment or a regular expression has no end.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(scan('a("}") // )').map(({ text }) => text), ["a", "(", '"}"', ")", "// )"]);
 * ```
 */
export function scan(code: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < code.length;) {
    const space = /^\s+/.exec(code.slice(at));
    if (space !== null) {
      at += space[0].length;
      continue;
    }
    const token = tokenAt(code, at, tokens.findLast(({ type }) => type !== "comment"));
    tokens.push(token);
    at = token.end;
  }
  return tokens;
}

function tokenAt(code: string, start: number, before: Token | undefined): Token {
  const sign = code[start]!;
  const token = (type: Token["type"], end: number): Token => ({ type, text: code.slice(start, end), start, end });
  if (code.startsWith("//", start) || (start === 0 && code.startsWith("#!"))) {
    const end = code.indexOf("\n", start);
    return token("comment", end === -1 ? code.length : end);
  }
  if (code.startsWith("/*", start)) return token("comment", endOf(code, "*/", start + 2, "comment"));
  if (sign === '"' || sign === "'") return token("text", quoteEnd(code, start));
  if (sign === "`") return token("text", templateEnd(code, start));
  if (sign === "/" && beginsPattern(before)) return token("text", patternEnd(code, start));
  const word = /^[\p{ID_Start}$_#@][\p{ID_Continue}$\u200c\u200d]*/u.exec(code.slice(start, start + 300));
  if (word !== null) return token("word", start + word[0].length);
  const number = /^\.?\d[\w.]*/.exec(code.slice(start, start + 300));
  if (number !== null) return token("number", start + number[0].length);
  return token("sign", start + (code.startsWith("...", start) ? 3 : code.startsWith("=>", start) ? 2 : 1));
}

function endOf(code: string, mark: string, from: number, what: string): number {
  const end = code.indexOf(mark, from);
  if (end === -1) throw new SyntaxError(`it has an unclosed ${what}`);
  return end + mark.length;
}

function quoteEnd(code: string, start: number): number {
  for (let at = start + 1; at < code.length && code[at] !== "\n"; at++) {
    if (code[at] === "\\") at++;
    else if (code[at] === code[start]) return at + 1;
  }
  throw new SyntaxError("it has an unclosed string");
}

/** A template may contain code, and that code another template. */
function templateEnd(code: string, start: number): number {
  for (let at = start + 1; at < code.length; at++) {
    if (code[at] === "\\") at++;
    else if (code[at] === "`") return at + 1;
    else if (code.startsWith("${", at)) at = codeEnd(code, at + 2);
  }
  throw new SyntaxError("it has an unclosed template");
}

/** Returns the end of the code in a template: its closing bracket. */
function codeEnd(code: string, start: number): number {
  let depth = 0;
  let before: Token | undefined;
  for (let at = start; at < code.length;) {
    if (/\s/.test(code[at]!)) {
      at++;
      continue;
    }
    const token = tokenAt(code, at, before);
    if (token.text === "{") depth++;
    if (token.text === "}" && depth-- === 0) return at;
    if (token.type !== "comment") before = token;
    at = token.end;
  }
  throw new SyntaxError("it has an unclosed template");
}

function beginsPattern(before: Token | undefined): boolean {
  if (before === undefined) return true;
  if (before.type === "word") return BEFORE_PATTERN.has(before.text);
  return before.type === "sign" && ![")", "]", "}"].includes(before.text);
}

function patternEnd(code: string, start: number): number {
  let isInClass = false;
  for (let at = start + 1; at < code.length && code[at] !== "\n"; at++) {
    if (code[at] === "\\") at++;
    else if (code[at] === "[") isInClass = true;
    else if (code[at] === "]") isInClass = false;
    else if (code[at] === "/" && !isInClass) return at + 1 + /^[a-z]*/.exec(code.slice(at + 1))![0].length;
  }
  throw new SyntaxError("it has an unclosed regular expression");
}
