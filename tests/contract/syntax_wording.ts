/**
 * Makes messages about CEL syntax errors comparable: cel-go words them as ANTLR does, `src/cel` in
 * its own words.
 */

const FIRST_SYNTAX_ERROR = /ERROR: <input>:(\d+:\d+): Syntax error: /;

/**
 * Replaces the wording of CEL syntax errors, and keeps the line and column of the first one.
 *
 * cel-go recovers and reports more errors after the first one; `src/cel` stops there. Other compile
 * errors keep their words.
 *
 * @param message A message that ends with compile errors, or any other message.
 * @returns The message; unchanged if it reports no syntax error.
 */
export function withoutSyntaxWording(message: string): string {
  const [, place] = FIRST_SYNTAX_ERROR.exec(message) ?? [];
  if (place === undefined) return message;
  return message.replace(/ERROR: <input>:.*$/s, `ERROR: <input>:${place}: Syntax error: <wording>`);
}
