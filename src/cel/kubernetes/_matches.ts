/**
 * Where an RE2 pattern matches. The library that compiles patterns only tells whether they do, so that its programs are run
 * here: all ways through a program side by side, the preferred one first, in time that grows with the text times the program
 * (https://swtch.com/~rsc/regexp/regexp2.html).
 */
import type { regularExpression } from "../regular_expression.ts";

type Expression = ReturnType<typeof regularExpression>;
type Program = ReturnType<Expression["re2"]>["prog"];

/** A way through the program: where it is, and where in the text it began. */
interface Way {
  readonly at: number;
  readonly start: number;
}

interface Match {
  readonly start: number;
  readonly end: number;
}

// The steps of a program, by number, and the bits of what can be asked of a place without a character.
const [ALTERNATIVE, ALTERNATIVE_MATCH, CAPTURE, EMPTY, FAIL, MATCH, NOTHING] = [1, 2, 3, 4, 5, 6, 7];
const [LINE_START, LINE_END, TEXT_START, TEXT_END, BOUNDARY, NO_BOUNDARY] = [1, 2, 4, 8, 16, 32];

/**
 * What matches, from left to right, none over another.
 *
 * @param expression The pattern.
 * @param text The text.
 * @param most How many matches are enough.
 * @returns The parts of the text. An empty one next to the match before it does not count, as in Go's `regexp`.
 */
export function matchesOf(expression: Expression, text: string, most: number): string[] {
  const found: string[] = [];
  if (most <= 0 || !expression.test(text)) return found;
  const program = expression.re2().prog;
  let previous = -1;
  for (let position = 0; position <= text.length && found.length < most;) {
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
  let ways: Way[] = [];
  let match: Match | undefined;
  for (let position = from; position <= text.length;) {
    const flags = flagsAt(text, position);
    const reached = new Set<number>();
    const here: Way[] = [];
    for (const way of ways) follow(program, way, flags, reached, here);
    // A match further to the left is preferred over all that begin later.
    if (match === undefined) follow(program, { at: program.start, start: position }, flags, reached, here);
    const width = widthAt(text, position);
    const code = width === 0 ? -1 : text.codePointAt(position)!;
    ways = [];
    for (const { at, start } of here) {
      const step = program.getInst(at);
      if (step.op === MATCH) {
        match = { start, end: position };
        // What comes after it is not preferred any more.
        break;
      }
      if (code >= 0 && step.matchRune(code)) ways.push({ at: step.out, start });
    }
    if (width === 0 || match !== undefined && ways.length === 0) break;
    position += width;
  }
  return match;
}

/** Goes on until the next step takes a character or is the end, and notes all such steps, the preferred one first. */
function follow(program: Program, { at, start }: Way, flags: number, reached: Set<number>, here: Way[]): void {
  const open = [at];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    const { op, out, arg } = program.getInst(next);
    if (op === ALTERNATIVE || op === ALTERNATIVE_MATCH) open.push(arg, out);
    else if (op === CAPTURE || op === NOTHING) open.push(out);
    else if (op === EMPTY) {
      if ((arg & ~flags) === 0) open.push(out);
    } else if (op !== FAIL) here.push({ at: next, start });
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

/** How long the character at a place is; 0 at the end. */
function widthAt(text: string, position: number): number {
  const code = text.codePointAt(position);
  return code === undefined ? 0 : code > 0xffff ? 2 : 1;
}
