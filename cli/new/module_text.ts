/**
 * Places in the text of a TypeScript module, and edits at them. All else in the module stays as it
 * is.
 */
import { scan, type Token } from "./scan.ts";

/**
 * The module is written in a way that is not understood here; the message says in which, without a
 * subject.
 */
export class NotUnderstood extends Error {
  override name = "NotUnderstood";
}

/** An edit of a module. */
export interface Edit {
  /** Where it begins. */
  readonly at: number;
  /** Where the text ends that is replaced. @default {where it begins: nothing is replaced} */
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
  /** Name by which the module calls it, to the name under which it is exported. */
  readonly names: ReadonlyMap<string, string>;
}

/** The words and signs of a module. @throws {NotUnderstood} If it is no TypeScript. */
export function tokensOf(code: string): Token[] {
  try {
    return scan(code);
  } catch (error) {
    if (error instanceof SyntaxError) throw new NotUnderstood(error.message);
    throw error;
  }
}

/** The import statements at the top level. */
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
 * The tokens of the object literal that opens at a token, with its brackets; undefined if none
 * opens there.
 */
export function objectAt(tokens: readonly Token[], open: number): readonly Token[] | undefined {
  return tokens[open]?.text === "{" ? bracketsAt(tokens, open) : undefined;
}

/** The tokens from an opening bracket to the one that closes it. */
export function bracketsAt(tokens: readonly Token[], open: number): readonly Token[] {
  let depth = 0;
  for (let i = open; i < tokens.length; i++) {
    const { type, text } = tokens[i]!;
    if (type !== "sign") continue;
    if ("([{".includes(text)) depth++;
    if (")]}".includes(text) && --depth === 0) return tokens.slice(open, i + 1);
  }
  throw new NotUnderstood("a bracket in it has no end");
}

/** A property of an object literal. */
export interface Property {
  readonly key: string;
  readonly name: Token;
  /** What stands behind the colon; nothing of one that is only a name. */
  readonly value: readonly Token[];
}

/** The properties of an object literal, in their order. What is spread in is left out. */
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
 * Adds an entry behind the last one of an object or array literal, on a line of its own if the
 * closing bracket has one.
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

/** The white space at the beginning of a line. */
export function indentAt(code: string, at: number): string {
  const line = code.slice(code.lastIndexOf("\n", at - 1) + 1, at);
  return /^[ \t]*/.exec(line)![0];
}

/** Adds an import statement behind the others. */
export function importEdit(code: string, imports: readonly Import[], statement: string): Edit {
  const end = imports.at(-1)!.end;
  // A comment behind the last import stays with it.
  const line = code.indexOf("\n", end);
  return { at: line === -1 ? code.length : line, insert: `\n${statement}` };
}
