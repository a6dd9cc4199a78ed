/** Escapes text and code for Markdown (https://github.github.com/gfm/). */

// Control characters, and characters that change the direction of writing, which can disguise text.
// deno-lint-ignore no-control-regex
const INVISIBLE = /[\u0000-\u0008\u000B-\u001F\u007F\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;

/**
 * Returns plain text on one line, without formatting. Underscores within words have no meaning and
 * stay, so that URLs remain links. {@linkcode table} escapes pipes.
 *
 * @param plain The text.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(text("<b> *c* snake_case `d`"), "&lt;b> \\*c\\* snake_case \\`d\\`");
 * assert.equal(text("&amp; R&D"), "&amp;amp; R&D");
 * ```
 */
export function text(plain: string): string {
  return plain
    .replaceAll(INVISIBLE, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/&(?=#?\w+;)/g, "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(/[\\`*[\]~]/g, "\\$&")
    .replaceAll(/(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, "\\_");
}

/**
 * Returns code on one line.
 *
 * @param plain The code. Line ends become spaces.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(code("a && b"), "`a && b`");
 * assert.equal(code("a `b`"), "`` a `b` ``");
 * ```
 */
export function code(plain: string): string {
  const escape = (unseen: string) => `\\u${unseen.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const line = plain.replaceAll(/\s+/g, " ").replaceAll(INVISIBLE, escape).trim();
  if (line === "") return "` `";
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  const padded = line.startsWith("`") || line.endsWith("`") ? ` ${line} ` : line;
  return `${fence}${padded}${fence}`;
}

/**
 * Returns a JSON value as code.
 *
 * @param value The value.
 */
export function json(value: unknown): string {
  return code(JSON.stringify(value));
}

/**
 * Returns several paragraphs in one cell of a table. List items remain separate lines.
 *
 * @param plain The text.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(cell("One\nline.\n\nTwo:\n* a\n* b"), "One line.<br><br>Two:<br>- a<br>- b");
 * ```
 */
export function cell(plain: string): string {
  return paragraphsOf(plain).map((lines) => lines.map(listed).join("<br>")).join("<br><br>");
}

/**
 * Returns several paragraphs outside of tables. Lists remain lists. Headings, rules and tables are
 * escaped.
 *
 * @param plain The text.
 */
export function paragraphs(plain: string): string {
  const markdown = paragraphsOf(plain).map((lines) => lines.map(listed).join("\n")).join("\n\n");
  return markdown.replaceAll("|", "\\|");
}

const LIST = /^([-*+]|\d+[.)])\s+/;

/** Returns a line, or a list item. Headings and rules are escaped. */
function listed(line: string): string {
  const [marker, sign] = LIST.exec(line) ?? [];
  if (marker === undefined || sign === undefined) return text(line).replace(/^[-+=#>]|(?<=^\d+)[.)]/, "\\$&");
  return `${/\d/.test(sign) ? sign : "-"} ${listed(line.slice(marker.length))}`;
}

/** Returns the lines of each paragraph. Line breaks within a sentence are removed. */
function paragraphsOf(plain: string): string[][] {
  return plain.trim().split(/\n\s*\n/).map((paragraph) =>
    paragraph.split("\n").reduce<string[]>((lines, line) => {
      const trimmed = line.trim().replaceAll(/\s+/g, " ");
      if (lines.length === 0 || LIST.test(trimmed)) lines.push(trimmed);
      else lines[lines.length - 1] += ` ${trimmed}`;
      return lines;
    }, [])
  );
}

/**
 * Returns a table, or an empty string if it has no rows.
 *
 * @param head The names of the columns.
 * @param rows The cells, as Markdown.
 */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  // A pipe ends a cell even inside code.
  const lines = [head, head.map(() => "---"), ...rows].map((cells) =>
    `|${cells.map((cell) => cell === "" ? " |" : ` ${cell.replaceAll("|", "\\|")} |`).join("")}`
  );
  return `${lines.join("\n")}\n`;
}
