/** Adds a part to an operator in the source of its module, and leaves the rest unchanged. */
import {
  edited,
  entryEdits,
  type Import,
  importEdit,
  importsIn,
  ModuleEditError,
  objectAt,
  properties,
  tokensOf,
} from "./module_text.ts";
import type { Token } from "./scan.ts";

/** A part to add. */
export interface NewPart {
  /** Its key, which is also the name of its export. */
  readonly key: string;
  /** The module specifier for the operator's module. */
  readonly from: string;
}

/** Returns the lines to add by hand: an import and a key. */
export function linesFor({ key, from }: NewPart): string {
  return `import { ${key} } from ${JSON.stringify(from)};\noperator({ ..., parts: { ..., ${key} } })\n`;
}

/**
 * Adds a part.
 *
 * @param code The module that calls `operator()`.
 * @param part The part.
 * @returns The edited module.
 * @throws {ModuleEditError} If the module does not call `operator()` with an object literal of
 *   parts, or the key is in use.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const code = 'import { operator } from "@op/sdk";\n' +
 *   'export default operator({ name: "shop", parts: {} });\n';
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
  if (keys.includes(part.key)) throw new ModuleEditError(`it already has a part "${part.key}"`);
  if (tokens.some(({ type, text }) => type === "word" && text === part.key)) {
    throw new ModuleEditError(`it already uses the name "${part.key}"`);
  }
  const comments = all.filter(({ type }) => type === "comment");
  const edits = [
    ...entryEdits(code, list, comments, part.key),
    importEdit(code, imports, `import { ${part.key} } from ${JSON.stringify(part.from)};`),
  ];
  return edited(code, edits);
}

/** Returns the tokens of the object literal with the parts, including its braces. */
function partsIn(tokens: readonly Token[], imports: readonly Import[]): readonly Token[] {
  const names = imports.flatMap(({ names }) =>
    [...names].filter(([, name]) => name === "operator").map(([own]) => own)
  );
  const namespaces = imports.flatMap(({ names }) => [...names].filter(([, name]) => name === "*").map(([own]) => own));
  const calls = tokens.flatMap(({ type, text }, i) => {
    if (type !== "word") return [];
    const isDirectCall = names.includes(text) && tokens[i - 1]?.text !== ".";
    const isNamespaceCall = text === "operator" && tokens[i - 1]?.text === "." &&
      namespaces.includes(tokens[i - 2]?.text ?? "");
    const open = isDirectCall || isNamespaceCall ? argumentsAt(tokens, i + 1) : undefined;
    return open === undefined ? [] : [open];
  });
  if (calls.length === 0) throw new ModuleEditError("it does not call operator()");
  if (calls.length > 1) throw new ModuleEditError(`it calls operator() ${calls.length} times`);
  const options = objectAt(tokens, calls[0]! + 1);
  if (options === undefined) throw new ModuleEditError("operator() is not called with an object literal");
  const parts = properties(options).find(({ key }) => key === "parts");
  if (parts === undefined) throw new ModuleEditError('the call of operator() has no property "parts"');
  const [value] = parts.value;
  if (value?.text === "{") return objectAt(parts.value, 0)!;
  const name = value ?? parts.name;
  if (parts.value.length > 1 || name.type !== "word") {
    throw new ModuleEditError('"parts" is neither an object literal nor a variable');
  }
  return objectOf(tokens, name.text);
}

/** Returns the index of the opening parenthesis of a call, which may have type arguments. */
function argumentsAt(tokens: readonly Token[], from: number): number | undefined {
  if (tokens[from]?.text === "(") return from;
  if (tokens[from]?.text !== "<") return undefined;
  const close = tokens.findIndex(({ text }, i) => i > from && text === "(" && tokens[i - 1]?.text === ">");
  return close === -1 ? undefined : close;
}

/** Returns the object literal of a constant. */
function objectOf(tokens: readonly Token[], name: string): readonly Token[] {
  const at = tokens.findIndex(({ text }, i) => text === name && ["const", "let"].includes(tokens[i - 1]?.text ?? ""));
  const open = at === -1 ? -1 : tokens.findIndex(({ text }, i) => i > at && text === "=") + 1;
  const list = open <= 0 ? undefined : objectAt(tokens, open);
  if (list === undefined) throw new ModuleEditError(`"${name}", which has the parts, is not an object literal`);
  return list;
}

function keysOf(list: readonly Token[]): string[] {
  return properties(list).map(({ key }) => key);
}
