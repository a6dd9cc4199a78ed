/** RE2, the regular expressions of API servers: linear time, no lookaround, no backreferences. */
import { RE2JS } from "@bufbuild/re2";

// Custom kinds have few patterns and use them repeatedly. If there are more, the cache is emptied
// and filled again.
const CACHE_SIZE = 1000;
const compiled = new Map<string, RE2JS>();

/**
 * Compiles a pattern. Compiled patterns are cached.
 *
 * @param pattern The pattern, in RE2 syntax.
 * @throws {SyntaxError} If the pattern is invalid; the message is that of Go's `regexp` package.
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
  let expression: RE2JS;
  try {
    expression = RE2JS.compile(pattern);
  } catch (cause) {
    throw new SyntaxError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
  if (compiled.size >= CACHE_SIZE) compiled.clear();
  compiled.set(pattern, expression);
  return expression;
}
