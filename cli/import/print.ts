/**
 * Prints expressions in the layout of `deno fmt` with 120 columns, so that formatting does not
 * change the module.
 */
import type { CallExpression, Expression, ListExpression, LiteralExpression, RecordExpression } from "./expression.ts";

const WIDTH = 120;
const STEP = 2;

/** The position at which an expression is printed. */
interface Layout {
  /** Columns by which its lines are indented. */
  readonly indent: number;
  /** Columns that are used before it on its first line. */
  readonly before: number;
  /** Columns that are used after it on its last line. */
  readonly after: number;
}

/**
 * Prints a statement that ends with an expression.
 *
 * @param expression The expression.
 * @param before The code before the expression, such as `const port = `.
 * @param after The code after the expression.
 */
export function print(expression: Expression, before = "", after = ""): string {
  return `${before}${layOut(expression, { indent: 0, before: before.length, after: after.length + 1 })}${after};`;
}

/** Returns the number of columns of an expression on one line. */
export function flatWidth(expression: Expression): number {
  return onOneLine(expression).length;
}

function layOut(expression: Expression, layout: Layout): string {
  const line = onOneLine(expression);
  if (layout.before + line.length + layout.after <= WIDTH && !needsLines(expression)) return line;
  switch (expression.type) {
    case "literal":
    case "name":
      return line;
    case "list":
      return listInLines(expression, layout);
    case "record":
      return recordInLines(expression, layout);
    case "call":
      return callInLines(expression, layout);
  }
}

/**
 * Returns whether an expression is written on several lines even if it fits on one: objects with
 * many properties, and strings with line breaks.
 */
function needsLines(expression: Expression): boolean {
  switch (expression.type) {
    case "literal":
      return expression.prose === true && typeof expression.value === "string" && /\n./.test(expression.value);
    case "name":
      return false;
    case "list":
      return expression.items.some(needsLines);
    case "record":
      return expression.entries.length > ENTRIES_IN_LINE || expression.entries.some(([, value]) => needsLines(value));
    case "call":
      return expression.args.some(needsLines);
  }
}

const ENTRIES_IN_LINE = 4;

function listInLines({ items }: ListExpression, { indent }: Layout): string {
  if (items.length === 0) return "[]";
  const inner = indent + STEP;
  // The brackets of a list with a single object share the lines of its braces: `[{` and `}]`.
  const lines = items.map((item) => `${spaces(inner)}${layOut(item, { indent: inner, before: inner, after: 1 })},\n`);
  if (items.length === 1 && items[0]!.type === "record") {
    return `[${layOut(items[0]!, { indent, before: WIDTH, after: 0 })}]`;
  }
  return `[\n${lines.join("")}${spaces(indent)}]`;
}

function recordInLines({ spread, entries }: RecordExpression, { indent }: Layout): string {
  const inner = indent + STEP;
  const texts = entries.map(([key, value]) => entryText(key, value, inner));
  if (spread !== undefined) texts.unshift(`...${spread}`);
  if (texts.length === 0) return "{}";
  const lines = texts.map((text) => `${spaces(inner)}${text},\n`);
  return `{\n${lines.join("")}${spaces(indent)}}`;
}

function entryText(key: string, value: Expression, indent: number): string {
  if (value.type === "name" && value.name === key) return key;
  const before = `${keyText(key)}: `;
  if (value.type === "literal" && typeof value.value === "string") return stringProperty(before, value, indent);
  return before + layOut(value, { indent, before: indent + before.length, after: 1 });
}

/**
 * Prints a property with a string. Prose that does not fit on the line is split over several lines,
 * and any other string gets its own line.
 */
function stringProperty(before: string, text: LiteralExpression, indent: number): string {
  const line = onOneLine(text);
  const fits = indent + before.length + line.length + 1 <= WIDTH;
  if (fits && !needsLines(text)) return before + line;
  const [first, ...more] = text.prose ? proseLines(String(text.value), indent, before.length) : [line];
  const rest = more.map((part) => ` +\n${spaces(indent + STEP)}${part}`).join("");
  const firstFits = indent + before.length + first!.length + (more.length > 0 ? " +" : ",").length <= WIDTH;
  return (firstFits ? before : `${before.trimEnd()}\n${spaces(indent + STEP)}`) + first + rest;
}

/** Splits a string into literals, after line breaks and between words. */
function proseLines(text: string, indent: number, before: number): string[] {
  const lines: string[] = [];
  const available = () => WIDTH - indent - (lines.length === 0 ? before : STEP) - " +".length;
  for (const paragraph of text.match(/[^\n]*\n+|[^\n]+$/g) ?? []) {
    let line = "";
    for (const word of paragraph.match(/\S+\s*|\s+/g) ?? []) {
      if (line !== "" && stringText(line + word).length > available()) {
        lines.push(stringText(line));
        line = "";
      }
      line += word;
    }
    lines.push(stringText(line));
  }
  return lines;
}

function callInLines({ callee, args }: CallExpression, layout: Layout): string {
  const { indent, before } = layout;
  const open = `${callee}(`;
  const [first, second] = args;
  if (first === undefined) return `${open})`;
  if (args.length === 1 && first.type !== "literal" && first.type !== "name") {
    return `${open}${layOut(first, { indent, before: before + open.length, after: layout.after + 1 })})`;
  }
  if (args.length === 2 && second!.type === "record" && second!.entries.length > 0) {
    const head = onOneLine(first);
    // Options start on the line on which the first argument ends: `s.string(a, {` or `}, {`.
    if (!needsLines(first) && before + open.length + head.length + ", {".length <= WIDTH) {
      return `${open}${head}, ${recordInLines(second!, layout)})`;
    }
    if (first.type === "record" || first.type === "list") {
      const body = first.type === "record" ? recordInLines(first, layout) : listInLines(first, layout);
      return `${open}${body}, ${layOut(second!, { indent, before: indent + "}, ".length, after: layout.after + 1 })})`;
    }
  }
  const inner = indent + STEP;
  const lines = args.map((arg) => `${spaces(inner)}${layOut(arg, { indent: inner, before: inner, after: 1 })},\n`);
  return `${open}\n${lines.join("")}${spaces(indent)})`;
}

const linesByExpression = new WeakMap<Expression, string>();

/** Returns an expression on one line of any length. */
function onOneLine(expression: Expression): string {
  let text = linesByExpression.get(expression);
  if (text === undefined) linesByExpression.set(expression, text = printFlat(expression));
  return text;
}

function printFlat(expression: Expression): string {
  switch (expression.type) {
    case "literal":
      return typeof expression.value === "string" ? stringText(expression.value) : numberText(expression.value);
    case "name":
      return expression.name;
    case "list":
      return `[${expression.items.map(onOneLine).join(", ")}]`;
    case "record":
      return flatRecord(expression);
    case "call":
      return `${expression.callee}(${expression.args.map(onOneLine).join(", ")})`;
  }
}

function flatRecord({ spread, entries }: RecordExpression): string {
  const texts = entries.map(flatEntry);
  if (spread !== undefined) texts.unshift(`...${spread}`);
  return texts.length === 0 ? "{}" : `{ ${texts.join(", ")} }`;
}

function flatEntry([key, value]: readonly [string, Expression]): string {
  return value.type === "name" && value.name === key ? key : `${keyText(key)}: ${onOneLine(value)}`;
}

function keyText(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : stringText(key);
}

/**
 * Quotes a string like `deno fmt`: with single quotes if it contains fewer of them than of double
 * quotes, otherwise with double quotes.
 */
function stringText(text: string): string {
  // Line separators are valid in strings since ES2019, but editors still show them as line breaks.
  const double = JSON.stringify(text).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
  const count = (quote: string) => text.split(quote).length - 1;
  if (count('"') <= count("'")) return double;
  return `'${
    double.slice(1, -1).replaceAll("'", "\\'").replaceAll(/\\(.)/g, (all, char) => (char === '"' ? '"' : all))
  }'`;
}

function numberText(value: number | boolean | null): string {
  if (typeof value !== "number" || !Number.isInteger(value) || Math.abs(value) < 1_000_000) return String(value);
  if (Math.abs(value) >= 1e21) return String(value);
  return String(value).replaceAll(/\B(?=(\d{3})+$)/g, "_");
}

function spaces(count: number): string {
  return " ".repeat(count);
}
