/** Puts a part into an operator's list of parts, in the text of the module that has it. All else in the module stays as it is. */
import { scan, type Token } from "./scan.ts";

/** A part that is to be added. */
export interface NewPart {
  /** Its key, which is also the name under which its module exports it. */
  readonly key: string;
  /** The module, as the operator's module imports it. */
  readonly from: string;
}

/** The module is written in a way that is not understood here; the message says in which, without a subject. */
export class NotUnderstood extends Error {
  override name = "NotUnderstood";
}

/** What somebody adds who adds a part by hand: an import, and a key. */
export function linesFor({ key, from }: NewPart): string {
  return `import { ${key} } from ${JSON.stringify(from)};\noperator({ ..., parts: { ..., ${key} } })\n`;
}

/**
 * Adds a part.
 *
 * @param code The module with the call of `operator()`.
 * @param part The part.
 * @returns The module with it.
 * @throws {NotUnderstood} If there is no such call, or it does not show its parts; if the key is taken.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const code = 'import { operator } from "@op/sdk";\nexport default operator({ name: "shop", parts: {} });\n';
 * assert.equal(
 *   addPart(code, { key: "caches", from: "./cache/controller.ts" }),
 *   'import { operator } from "@op/sdk";\nimport { caches } from "./cache/controller.ts";\n' +
 *     'export default operator({ name: "shop", parts: { caches } });\n',
 * );
 * ```
 */
export function addPart(code: string, part: NewPart): string {
  const all = tokensOf(code);
  const tokens = all.filter(({ type }) => type !== "comment");
  const imports = importsIn(tokens);
  const list = partsIn(tokens, imports);
  const keys = keysOf(list);
  if (keys.includes(part.key)) throw new NotUnderstood(`it has a part "${part.key}" already`);
  if (tokens.some(({ type, text }) => type === "word" && text === part.key)) {
    throw new NotUnderstood(`"${part.key}" is the name of something else in it`);
  }
  const comments = all.filter(({ type }) => type === "comment");
  const edits = [...partEdits(code, list, comments, part.key), importEdit(code, imports, part)];
  return edits.sort((a, b) => b.at - a.at).reduce(
    (text, { at, insert }) => text.slice(0, at) + insert + text.slice(at),
    code,
  );
}

interface Edit {
  readonly at: number;
  readonly insert: string;
}

interface Import {
  readonly end: number;
  readonly specifier: string;
  /** Name by which the module calls it, to the name under which it is exported. */
  readonly names: ReadonlyMap<string, string>;
}

function tokensOf(code: string): Token[] {
  try {
    return scan(code);
  } catch (error) {
    if (error instanceof SyntaxError) throw new NotUnderstood(error.message);
    throw error;
  }
}

/** The import statements at the top level. */
function importsIn(tokens: readonly Token[]): Import[] {
  const imports: Import[] = [];
  for (const [i, token] of tokens.entries()) {
    if (token.text !== "import" || token.type !== "word" || [".", "("].includes(tokens[i + 1]?.text ?? "")) continue;
    const last = tokens.findIndex((other, j) => j > i && other.type === "text");
    const specifier = tokens[last];
    if (specifier === undefined) break;
    const names = new Map<string, string>();
    const words = tokens.slice(i + 1, last).filter(({ text }) => text !== "type");
    for (const [j, { type, text }] of words.entries()) {
      if (type !== "word" || text === "as" || text === "from" || words[j - 1]?.text === "as") continue;
      names.set(words[j + 1]?.text === "as" ? words[j + 2]?.text ?? text : text, text);
    }
    if (tokens.slice(i, last).some(({ text }) => text === "*")) names.set(words[2]?.text ?? "", "*");
    const end = tokens[last + 1]?.text === ";" ? tokens[last + 1]!.end : specifier.end;
    imports.push({ end, specifier: specifier.text.slice(1, -1), names });
  }
  return imports;
}

/** The tokens of the object literal that holds the parts, with its brackets. */
function partsIn(tokens: readonly Token[], imports: readonly Import[]): readonly Token[] {
  const names = imports.flatMap(({ names }) =>
    [...names].filter(([, name]) => name === "operator").map(([own]) => own)
  );
  const spaces = imports.flatMap(({ names }) => [...names].filter(([, name]) => name === "*").map(([own]) => own));
  const calls = tokens.flatMap(({ type, text }, i) => {
    if (type !== "word") return [];
    const isOwn = names.includes(text) && tokens[i - 1]?.text !== ".";
    const isOfSpace = text === "operator" && tokens[i - 1]?.text === "." && spaces.includes(tokens[i - 2]?.text ?? "");
    const open = isOwn || isOfSpace ? argumentsAt(tokens, i + 1) : undefined;
    return open === undefined ? [] : [open];
  });
  if (calls.length === 0) throw new NotUnderstood("there is no call of operator() in it");
  if (calls.length > 1) throw new NotUnderstood(`operator() is called ${calls.length} times in it`);
  const options = objectAt(tokens, calls[0]! + 1);
  if (options === undefined) throw new NotUnderstood("operator() is not called with an object literal");
  const at = properties(options).find(({ key }) => key === "parts");
  if (at === undefined) throw new NotUnderstood('the call of operator() does not show its "parts"');
  const [value] = at.value;
  if (value?.text === "{") return objectAt(at.value, 0)!;
  const name = value ?? at.name;
  if (at.value.length > 1 || name.type !== "word") {
    throw new NotUnderstood('"parts" is neither an object literal nor a name');
  }
  return declared(tokens, name.text);
}

/** Where the round bracket of a call opens, with or without type arguments before it. */
function argumentsAt(tokens: readonly Token[], from: number): number | undefined {
  if (tokens[from]?.text === "(") return from;
  if (tokens[from]?.text !== "<") return undefined;
  const close = tokens.findIndex(({ text }, i) => i > from && text === "(" && tokens[i - 1]?.text === ">");
  return close === -1 ? undefined : close;
}

/** The object literal of a constant. */
function declared(tokens: readonly Token[], name: string): readonly Token[] {
  const at = tokens.findIndex(({ text }, i) => text === name && ["const", "let"].includes(tokens[i - 1]?.text ?? ""));
  const open = at === -1 ? -1 : tokens.findIndex(({ text }, i) => i > at && text === "=") + 1;
  const list = open <= 0 ? undefined : objectAt(tokens, open);
  if (list === undefined) throw new NotUnderstood(`"${name}", which has the parts, is not an object literal in it`);
  return list;
}

function objectAt(tokens: readonly Token[], open: number): readonly Token[] | undefined {
  if (tokens[open]?.text !== "{") return undefined;
  let depth = 0;
  for (let i = open; i < tokens.length; i++) {
    const { type, text } = tokens[i]!;
    if (type !== "sign") continue;
    if ("([{".includes(text)) depth++;
    if (")]}".includes(text) && --depth === 0) return tokens.slice(open, i + 1);
  }
  throw new NotUnderstood("a bracket in it has no end");
}

interface Property {
  readonly key: string;
  readonly name: Token;
  /** What stands behind the colon; nothing of one that is only a name. */
  readonly value: readonly Token[];
}

/** The properties of an object literal, in their order. What is spread in is left out. */
function properties(object: readonly Token[]): Property[] {
  const found: Property[] = [];
  let depth = 0;
  let own: Token[] = [];
  const close = (): void => {
    const [name, colon, ...value] = own;
    if (name !== undefined && name.text !== "...") {
      const key = name.type === "text" ? name.text.slice(1, -1) : name.text;
      found.push({ key, name, value: colon?.text === ":" ? value : [] });
    }
    own = [];
  };
  for (const token of object.slice(1, -1)) {
    if (token.type === "sign" && ")]}".includes(token.text)) depth--;
    if (depth === 0 && token.text === "," && token.type === "sign") close();
    else own.push(token);
    if (token.type === "sign" && "([{".includes(token.text)) depth++;
  }
  close();
  return found;
}

function keysOf(list: readonly Token[]): string[] {
  return properties(list).map(({ key }) => key);
}

/** Behind the last property: on a line of its own where the closing bracket has one. */
function partEdits(code: string, list: readonly Token[], comments: readonly Token[], key: string): Edit[] {
  const open = list[0]!;
  const close = list.at(-1)!;
  const last = list.at(-2)!;
  const inside = comments.filter(({ start, end }) => start >= open.end && end <= close.start);
  const isOwnLine = /\n[ \t]*$/.test(code.slice(0, close.start)) && close.start > open.end;
  if (last === open && inside.length === 0) {
    return [{ at: open.end, insert: isOwnLine ? `\n${indentAt(code, close.start)}  ${key},` : ` ${key} ` }];
  }
  const end = Math.max(last.end, ...inside.map(({ end }) => end));
  const needsComma = last !== open && last.text !== ",";
  const comma = needsComma ? [{ at: last.end, insert: "," }] : [];
  if (isOwnLine) {
    const indent = last === open ? `${indentAt(code, close.start)}  ` : indentAt(code, list[1]!.start);
    return [...comma, { at: end, insert: `\n${indent}${key},` }].reverse();
  }
  return [{ at: end, insert: `${needsComma ? "," : ""} ${key}` }];
}

function indentAt(code: string, at: number): string {
  const line = code.slice(code.lastIndexOf("\n", at - 1) + 1, at);
  return /^[ \t]*/.exec(line)![0];
}

function importEdit(code: string, imports: readonly Import[], { key, from }: NewPart): Edit {
  const end = imports.at(-1)!.end;
  // A comment behind the last import stays with it.
  const line = code.indexOf("\n", end);
  return { at: line === -1 ? code.length : line, insert: `\nimport { ${key} } from ${JSON.stringify(from)};` };
}
