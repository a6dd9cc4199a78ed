/**
 * Wraps comments at 100 columns: `deno run -A tools/prose/wrap.ts FILE...`
 *
 * A comment whose lines are all narrow enough stays as it is.
 */
import { COMMENT_WIDTH } from "./rules.ts";

/**
 * Returns TypeScript source with its wide comments wrapped. Code in comments, tables and long words
 * are left alone.
 *
 * @param source The source. Comments at the end of a line of code are not changed.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const words = "word ".repeat(30).trim();
 * const [first = "", second = ""] = wrapped(`// ${words}\n`).split("\n");
 * assert(first.length <= 100 && second.startsWith("// word"));
 * ```
 */
export function wrapped(source: string): string {
  const lines = source.split("\n");
  const result: string[] = [];
  for (let i = 0; i < lines.length;) {
    const line = lines[i]!;
    const [, indent = "", opening] = /^(\s*)(\/\*\*|\/\/)(?: |$)/.exec(line) ?? [];
    if (opening === undefined) {
      result.push(line);
      i++;
      continue;
    }
    let end = i + 1;
    if (opening === "//") { while (lines[end]?.startsWith(`${indent}// `)) end++; }
    else if (!line.includes("*/")) {
      while (end < lines.length && !lines[end]!.includes("*/")) end++;
      end++;
    }
    const comment = lines.slice(i, end);
    const isWide = comment.some((one) => one.length > COMMENT_WIDTH);
    result.push(...(isWide ? (opening === "//" ? wrapLines : wrapBlock)(comment, indent) : comment));
    i = end;
  }
  return result.join("\n");
}

function wrapLines(comment: readonly string[], indent: string): string[] {
  const texts = comment.map((line) => line.slice(indent.length + 3));
  // Directives must stay alone on their lines.
  if (texts.some((text) => /^(deno-|@ts-)/.test(text))) return [...comment];
  return fill(texts, COMMENT_WIDTH - indent.length - 3).map((text) => `${indent}// ${text}`.trimEnd());
}

function wrapBlock(comment: readonly string[], indent: string): string[] {
  const last = comment.at(-1)!;
  if (!last.trimEnd().endsWith("*/")) return [...comment];
  const texts = comment.map((line) =>
    line.replace(/^\s*\/\*\* ?/, "").replace(/^\s*\* ?(?!\/)/, "").replace(/\s*\*\/\s*$/, "")
  )
    .map((text, i) => i > 0 && text.trim() === "" ? "" : text);
  while (texts[0]?.trim() === "") texts.shift();
  while (texts.at(-1)?.trim() === "") texts.pop();
  const filled = fill(texts, COMMENT_WIDTH - indent.length - 3);
  return [`${indent}/**`, ...filled.map((text) => `${indent} * ${text}`.trimEnd()), `${indent} */`];
}

/** Fills paragraphs. A new one begins at an empty line, a list item and a tag. */
function fill(texts: readonly string[], width: number): string[] {
  const result: string[] = [];
  let paragraph: string[] = [];
  let isCode = false;
  const flush = () => {
    if (paragraph.length > 0) result.push(...words(paragraph.join(" "), width));
    paragraph = [];
  };
  for (const text of texts) {
    const isFence = text.trimStart().startsWith("```");
    const isContinuation = paragraph[0]?.startsWith("@") === true && /^ {2,3}\S/.test(text);
    if (isFence || isCode || text.trim() === "" || (/^\s*\||^ {2,}/.test(text) && !isContinuation)) {
      flush();
      result.push(text);
      if (isFence) isCode = !isCode;
      continue;
    }
    if (/^\s*([-*]|\d+\.) |^@/.test(text)) flush();
    paragraph.push(paragraph.length === 0 ? text : text.trim());
  }
  flush();
  return result;
}

/**
 * A space, except inside an inline JSDoc tag such as `{@linkcode X}`, which editors only link if it
 * is on one line.
 */
const BETWEEN_WORDS = /(?<!\{@[^{}]*) /;

function words(text: string, width: number): string[] {
  // Further lines of a list item or a tag are indented, so that Markdown sees one item.
  const hanging = text.startsWith("@") ? "  " : /^(\s*)([-*]|\d+\.) /.exec(text)?.[0].replace(/\S/g, " ") ?? "";
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(BETWEEN_WORDS)) {
    if (line !== "" && line.trim() !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = hanging + word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

if (import.meta.main) {
  for (const file of Deno.args) {
    const source = await Deno.readTextFile(file);
    const result = wrapped(source);
    if (result !== source) await Deno.writeTextFile(file, result);
  }
}
