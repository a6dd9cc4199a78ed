/** RE2, which API servers match with: linear time, no lookaround, no backreferences. */
import { RE2JS } from "@bufbuild/re2";

// Kinds have few patterns, and the same ones each time; what is not asked for again makes room.
const KEPT = 1000;
const compiled = new Map<string, RE2JS>();

/**
 * A pattern, compiled; the same one is compiled once.
 *
 * @param pattern The pattern, in RE2's syntax.
 * @throws {SyntaxError} If it is none; the message is the one of Go's `regexp` package.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(regularExpression("^(?P<year>[0-9]{4})$").test("2026"), true);
 * ```
 */
export function regularExpression(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  let made: RE2JS;
  try {
    made = RE2JS.compile(pattern);
  } catch (cause) {
    throw new SyntaxError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
  if (compiled.size >= KEPT) compiled.clear();
  compiled.set(pattern, made);
  return made;
}
