/** Quotes strings as Go does (`%q`, `strconv.Quote`). */

/** Characters with an escape sequence of their own. */
export const ESCAPES: { readonly [character: string]: string } = {
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
  '"': '\\"',
};
const PRINTED = /[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;

/** Returns a string in double quotes. Unprintable characters are escaped. */
export function quotedText(text: string): string {
  return `"${[...text].map(escapeCharacter).join("")}"`;
}

function escapeCharacter(character: string): string {
  const known = ESCAPES[character];
  if (known !== undefined) return known;
  if (PRINTED.test(character)) return character;
  const code = character.codePointAt(0)!;
  const digits = code.toString(16);
  if (code < 0x80) return `\\x${digits.padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${digits.padStart(4, "0")}` : `\\U${digits.padStart(8, "0")}`;
}
