/**
 * Finds the matches of an RE2 pattern. The library that compiles patterns only reports whether they
 * match, so this module runs the compiled programs. All threads of a program advance in parallel,
 * in order of priority. The time is proportional to the product of the sizes of text and program
 * (https://swtch.com/~rsc/regexp/regexp2.html).
 */
import type { regularExpression } from "../regular_expression.ts";

type Expression = ReturnType<typeof regularExpression>;
type Program = ReturnType<Expression["re2"]>["prog"];

/** A thread: its instruction, and where its match starts in the text. */
interface Thread {
  readonly at: number;
  readonly start: number;
}

interface Match {
  readonly start: number;
  readonly end: number;
}

// Opcodes of the instructions, and the bits of the zero-width assertions.
const [ALTERNATIVE, ALTERNATIVE_MATCH, CAPTURE, EMPTY, FAIL, MATCH, NO_OPERATION] = [1, 2, 3, 4, 5, 6, 7];
const [LINE_START, LINE_END, TEXT_START, TEXT_END, BOUNDARY, NO_BOUNDARY] = [1, 2, 4, 8, 16, 32];

/**
 * Returns the non-overlapping matches from left to right.
 *
 * @param expression The pattern.
 * @param text The text.
 * @param limit The maximum number of matches.
 * @returns The matched strings. As in Go's `regexp`, an empty match next to the previous match does
 * not count.
 */
export function matchesOf(expression: Expression, text: string, limit: number): string[] {
  const found: string[] = [];
  if (limit <= 0 || !expression.test(text)) return found;
  const program = expression.re2().prog;
  let previous = -1;
  for (let position = 0; position <= text.length && found.length < limit;) {
    const match = firstMatch(program, text, position);
    if (match === undefined) break;
    const isEmptyHere = match.end === position;
    if (!isEmptyHere || match.start !== previous) found.push(text.slice(match.start, match.end));
    position = isEmptyHere ? position + Math.max(widthAt(text, position), 1) : match.end;
    previous = match.end;
  }
  return found;
}

function firstMatch(program: Program, text: string, from: number): Match | undefined {
  let threads: Thread[] = [];
  let match: Match | undefined;
  for (let position = from; position <= text.length;) {
    const flags = flagsAt(text, position);
    const reached = new Set<number>();
    const reachable: Thread[] = [];
    for (const thread of threads) follow(program, thread, flags, reached, reachable);
    // A match has priority over all matches that start later in the text.
    if (match === undefined) follow(program, { at: program.start, start: position }, flags, reached, reachable);
    const width = widthAt(text, position);
    const code = width === 0 ? -1 : text.codePointAt(position)!;
    threads = [];
    for (const { at, start } of reachable) {
      const step = program.getInst(at);
      if (step.op === MATCH) {
        match = { start, end: position };
        // The remaining threads have a lower priority.
        break;
      }
      if (code >= 0 && step.matchRune(code)) threads.push({ at: step.out, start });
    }
    if (width === 0 || match !== undefined && threads.length === 0) break;
    position += width;
  }
  return match;
}

/**
 * Follows a thread up to the instructions that consume a character or match, and adds them in order
 * of priority.
 */
function follow(
  program: Program,
  { at, start }: Thread,
  flags: number,
  reached: Set<number>,
  reachable: Thread[],
): void {
  const pending = [at];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    const { op, out, arg } = program.getInst(next);
    if (op === ALTERNATIVE || op === ALTERNATIVE_MATCH) pending.push(arg, out);
    else if (op === CAPTURE || op === NO_OPERATION) pending.push(out);
    else if (op === EMPTY) {
      if ((arg & ~flags) === 0) pending.push(out);
    } else if (op !== FAIL) reachable.push({ at: next, start });
  }
}

function flagsAt(text: string, position: number): number {
  const [before, after] = [text[position - 1], text[position]];
  let flags = isWord(before) === isWord(after) ? NO_BOUNDARY! : BOUNDARY!;
  if (before === undefined) flags |= TEXT_START!;
  if (before === undefined || before === "\n") flags |= LINE_START!;
  if (after === undefined) flags |= TEXT_END!;
  if (after === undefined || after === "\n") flags |= LINE_END!;
  return flags;
}

function isWord(character: string | undefined): boolean {
  return character !== undefined && /^\w$/.test(character);
}

/** Returns the length of the character at a position; 0 at the end. */
function widthAt(text: string, position: number): number {
  const code = text.codePointAt(position);
  return code === undefined ? 0 : code > 0xffff ? 2 : 1;
}
