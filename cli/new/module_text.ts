/** Finds positions in the source of a TypeScript module, and edits it there. */
import { scan, type Token } from "./scan.ts";

/**
 * Thrown if a module cannot be edited automatically. The message is the reason, as a clause about
 * the module.
 */
export class ModuleEditError extends Error {
  override name = "ModuleEditError";
}

/** An edit of a module. */
export interface Edit {
  /** The start of the edit. */
  readonly at: number;
  /** The end of the replaced text. @default {`at`: the edit only inserts} */
  readonly end?: number;
  readonly insert: string;
}

/**
 * Applies edits that do not overlap.
 *
 * @param code The module.
 * @param edits The edits, in any order.
 */
export function edited(code: string, edits: readonly Edit[]): string {
  return [...edits].sort((a, b) => b.at - a.at).reduce(
    (text, { at, end = at, insert }) => text.slice(0, at) + insert + text.slice(end),
    code,
  );
}

/** An import statement. */
export interface Import {
  readonly start: number;
  readonly end: number;
  readonly specifier: string;
  /** Exported names by the names in the module. */
  readonly names: ReadonlyMap<string, string>;
}

/**
 * Returns the tokens of a module.
 *
 * @throws {ModuleEditError} If it is not TypeScript.
 */
export function tokensOf(code: string): Token[] {
  try {
    return scan(code);
  } catch (error) {
    if (error instanceof SyntaxError) throw new ModuleEditError(error.message);
    throw error;
  }
}

/** Returns the import statements. */
export function importsIn(tokens: readonly Token[]): Import[] {
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
    imports.push({ start: token.start, end, specifier: specifier.text.slice(1, -1), names });
  }
  return imports;
}

/**
 * Returns the tokens of an object literal with its brackets, or `undefined` if none begins at a
 * token.
 */
export function objectAt(tokens: readonly Token[], open: number): readonly Token[] | undefined {
  return tokens[open]?.text === "{" ? bracketsAt(tokens, open) : undefined;
}

/** Returns the tokens from an opening bracket to the matching one. */
export function bracketsAt(tokens: readonly Token[], open: number): readonly Token[] {
  let depth = 0;
  for (let i = open; i < tokens.length; i++) {
    const { type, text } = tokens[i]!;
    if (type !== "sign") continue;
    if ("([{".includes(text)) depth++;
    if (")]}".includes(text) && --depth === 0) return tokens.slice(open, i + 1);
  }
  throw new ModuleEditError("it has an unclosed bracket");
}

/** A property of an object literal. */
export interface Property {
  readonly key: string;
  readonly name: Token;
  /** The tokens after the colon; empty for a shorthand property. */
  readonly value: readonly Token[];
}

/** Returns the properties of an object literal in their order, without spread ones. */
export function properties(object: readonly Token[]): Property[] {
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

/**
 * Adds an entry at the end of an object or array literal, on its own line if the closing bracket is
 * on its own line.
 *
 * @param code The module.
 * @param list The tokens of the literal, with its brackets.
 * @param comments The comments of the module.
 * @param entry The entry.
 */
export function entryEdits(
  code: string,
  list: readonly Token[],
  comments: readonly Token[],
  entry: string,
): Edit[] {
  const open = list[0]!;
  const close = list.at(-1)!;
  const last = list.at(-2)!;
  const inside = comments.filter(({ start, end }) => start >= open.end && end <= close.start);
  const isOwnLine = /\n[ \t]*$/.test(code.slice(0, close.start)) && close.start > open.end;
  if (last === open && inside.length === 0) {
    return [{ at: open.end, insert: isOwnLine ? `\n${indentAt(code, close.start)}  ${entry},` : ` ${entry} ` }];
  }
  const end = Math.max(last.end, ...inside.map(({ end }) => end));
  const needsComma = last !== open && last.text !== ",";
  const comma = needsComma ? [{ at: last.end, insert: "," }] : [];
  if (isOwnLine) {
    const indent = last === open ? `${indentAt(code, close.start)}  ` : indentAt(code, list[1]!.start);
    return [...comma, { at: end, insert: `\n${indent}${entry},` }].reverse();
  }
  return [{ at: end, insert: `${needsComma ? "," : ""} ${entry}` }];
}

/** Returns the indentation of a line. */
export function indentAt(code: string, at: number): string {
  const line = code.slice(code.lastIndexOf("\n", at - 1) + 1, at);
  return /^[ \t]*/.exec(line)![0];
}

/** Adds an import statement after the others. */
export function importEdit(code: string, imports: readonly Import[], statement: string): Edit {
  const end = imports.at(-1)!.end;
  // A comment after the last import stays on its line.
  const line = code.indexOf("\n", end);
  return { at: line === -1 ? code.length : line, insert: `\n${statement}` };
}
