/** Clauses of a format string: `%s`, `%.2f` (cel-go, ext/formatting.go). */
import { CelError } from "../value.ts";

/** The verb of a clause. */
export type Verb = "s" | "d" | "f" | "e" | "b" | "x" | "X" | "o";

/** A clause. */
export interface Clause {
  readonly verb: Verb;
  /** The number of digits after the decimal point, if specified. */
  readonly precision: number | undefined;
}

const VERBS = "sdfebxXo";

/**
 * Expands the clauses of a format string.
 *
 * @param text The format string.
 * @param count The number of values.
 * @param write Returns the expansion of a clause, given the index of its value.
 * @param begin Called before a clause is parsed, with the index of its value.
 * @throws {CelError} If the format string is invalid, or has more clauses than values.
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
    throw clauseError(`unrecognized formatting clause "${firstByte(text.slice(length))}"`);
  }
  return { clause: { verb: verb as Verb, precision }, length: length + 1 };
}

function precisionOf(digits: string, isEnd: boolean): number {
  if (isEnd) throw clauseError("error while parsing precision: could not find end of precision specifier");
  const problem = digits === "" ? "invalid syntax" : BigInt(digits) >= 2n ** 63n ? "value out of range" : undefined;
  if (problem === undefined) return Number(digits);
  throw clauseError(
    `error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing "${digits}": ${problem}`,
  );
}

function clauseError(message: string): CelError {
  return new CelError(`could not parse formatting clause: ${message}`);
}

/** cel-go scans bytes, and its error shows the first byte of an unknown verb. */
function firstByte(text: string): string {
  return String.fromCharCode(new TextEncoder().encode(text)[0]!);
}
