/**
 * Removes control sequences from the output of `op`. Values from clusters and files could clear the
 * screen, change the title of the window or fill the clipboard. Output to files and pipes is
 * cleaned too, because it may be printed later.
 */
import type { Io } from "./io.ts";

/** Colors that `op` itself prints. */
const COLORS = { red: 31, green: 32, yellow: 33 } as const;

/** A color of {@linkcode colored}. */
export type Color = keyof typeof COLORS;

/** Marks the beginning of a style that `op` prints. It is random, so that no input contains it. */
const STYLE_MARK = `\x1b${crypto.randomUUID()}`;

const STYLE = new RegExp("\u001b\\[[0-9;:]*m", "g");
// Tabs and line ends are fine. A carriage return elsewhere would overwrite the line.
const CONTROL = /(?![\t\n\r])\p{Cc}|\r(?!\n|$)/gu;

/**
 * Colors a string. Only {@linkcode printingSafely} understands the result.
 *
 * @param text The string.
 * @param color The color.
 */
export function colored(text: string, color: Color): string {
  return `${STYLE_MARK}[${COLORS[color]}m${text}${STYLE_MARK}[0m`;
}

/**
 * Returns a string without control sequences: styles are removed, and other control characters are
 * escaped as in JSON.
 *
 * @param text A string from a cluster or a file.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(printable("a\x1b[31mb\x1b[0m\n\x1b[2J\x07"), "ab\n\\u001b[2J\\u0007");
 * ```
 */
export function printable(text: string): string {
  return text.replace(STYLE, "").replace(
    CONTROL,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * Returns a terminal that prints no control sequences except those of {@linkcode colored}.
 *
 * @param io The terminal and the shell.
 */
export function printingSafely(io: Io): Io {
  const safe = (text: string): string => text.split(STYLE_MARK).map(printableStyle).join("");
  return Object.create(io, {
    out: { value: (text: string) => io.out(safe(text)) },
    err: { value: (text: string) => io.err(safe(text)) },
  });
}

/** Handles the text after a mark, which begins with the rest of the style. */
function printableStyle(piece: string, index: number): string {
  if (index === 0) return printable(piece);
  const [style = ""] = /^\[\d+m/.exec(piece) ?? [];
  return `${style === "" ? "" : "\x1b"}${style}${printable(piece.slice(style.length))}`;
}
