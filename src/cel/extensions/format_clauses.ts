/** The clauses of a text that is formatted: `%s`, `%.2f` (cel-go, ext/formatting.go). */
import { CelError } from "../value.ts";

/** What a clause makes of its value. */
export type Verb = "s" | "d" | "f" | "e" | "b" | "x" | "X" | "o";

/** One clause. */
export interface Clause {
  readonly verb: Verb;
  /** Digits after the point, where it says. */
  readonly precision: number | undefined;
}

const VERBS = "sdfebxXo";

/**
 * The text with its clauses replaced.
 *
 * @param text The text.
 * @param count How many values there are.
 * @param write What a clause becomes, and which value it is about.
 * @param begin Called before a clause is looked at, with the index of its value.
 * @throws {CelError} If the text is wrong, or has more clauses than there are values.
 */
export function expandClauses(
  text: string,
  count: number,
  write: (index: number, clause: Clause) => string,
  begin: (index: number) => void,
): string {
  let expanded = "";
  let index = 0;
  for (let at = 0; at < text.length;) {
    if (text[at] !== "%" || text[at + 1] === "%") {
      expanded += text[at];
      at += text[at] === "%" ? 2 : 1;
      continue;
    }
    begin(index);
    if (at + 1 >= text.length) throw new CelError("unexpected end of string");
    if (index >= count) throw new CelError(`index ${index} out of range`);
    const { clause, length } = clauseAt(text.slice(at + 1));
    expanded += write(index, clause);
    at += 1 + length;
    index++;
  }
  return expanded;
}

function clauseAt(text: string): { readonly clause: Clause; readonly length: number } {
  const digits = /^\.([0-9]*)/.exec(text);
  const length = digits?.[0].length ?? 0;
  const precision = digits === null ? undefined : precisionOf(digits[1]!, length === text.length);
  const verb = text[length]!;
  if (!VERBS.includes(verb)) {
    throw wrong(`unrecognized formatting clause "${firstByte(text.slice(length))}"`);
  }
  return { clause: { verb: verb as Verb, precision }, length: length + 1 };
}

function precisionOf(digits: string, isEnd: boolean): number {
  if (isEnd) throw wrong("error while parsing precision: could not find end of precision specifier");
  const problem = digits === "" ? "invalid syntax" : BigInt(digits) >= 2n ** 63n ? "value out of range" : undefined;
  if (problem === undefined) return Number(digits);
  throw wrong(
    `error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing "${digits}": ${problem}`,
  );
}

function wrong(message: string): CelError {
  return new CelError(`could not parse formatting clause: ${message}`);
}

/** cel-go goes through the bytes of the text, and shows the one that it does not know. */
function firstByte(text: string): string {
  return String.fromCharCode(new TextEncoder().encode(text)[0]!);
}
