/**
 * Puts a part into an operator's list of parts, in the text of the module that has it. All else in
 * the module stays as it is.
 */
import {
  edited,
  entryEdits,
  type Import,
  importEdit,
  importsIn,
  NotUnderstood,
  objectAt,
  properties,
  tokensOf,
} from "./module_text.ts";
import type { Token } from "./scan.ts";

/** A part that is to be added. */
export interface NewPart {
  /** Its key, which is also the name under which its module exports it. */
  readonly key: string;
  /** The module, as the operator's module imports it. */
  readonly from: string;
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
 * @throws {NotUnderstood} If there is no such call, or it does not show its parts; if the key is
 * taken.
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
  const edits = [
    ...entryEdits(code, list, comments, part.key),
    importEdit(code, imports, `import { ${part.key} } from ${JSON.stringify(part.from)};`),
  ];
  return edited(code, edits);
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

function keysOf(list: readonly Token[]): string[] {
  return properties(list).map(({ key }) => key);
}
