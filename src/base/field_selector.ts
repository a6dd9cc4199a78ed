/**
 * Parses field selectors, with the server's error messages (`k8s.io/apimachinery/pkg/fields`,
 * `ParseSelector`).
 */

/** A requirement for one field. */
export interface FieldRequirement {
  readonly field: string;
  readonly value: string;
  /** Whether the field must have the value, or must not have it. */
  readonly isEqual: boolean;
}

/**
 * Parses a field selector. Only the server knows which fields exist.
 *
 * @param text The selector, such as `metadata.name=web`. An empty one has no requirements.
 * @throws {SyntaxError} If it is invalid.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(parseFieldSelector("spec.host!=a"), [
 *   { field: "spec.host", value: "a", isEqual: false },
 * ]);
 * assert.throws(() => parseFieldSelector("web"), {
 *   message: "invalid selector: 'web'; can't understand 'web'",
 * });
 * ```
 */
export function parseFieldSelector(text: string): readonly FieldRequirement[] {
  return terms(text).map((term) => {
    const match = /^((?:[^\\=!]|\\.|!(?!=))*)(==|!=|=)((?:.|\n)*)$/.exec(term);
    if (match === null) throw new SyntaxError(`invalid selector: '${text}'; can't understand '${term}'`);
    const [, field = "", operator, raw = ""] = match;
    return { field, value: unescaped(raw), isEqual: operator !== "!=" };
  });
}

/** Splits at commas, except for escaped ones. */
function terms(text: string): string[] {
  return text.match(/(?:[^\\,]|\\[^])+/g) ?? [];
}

/** Removes the escapes of a value: backslashes before a comma, an equals sign or a backslash. */
function unescaped(value: string): string {
  let plain = "";
  for (let i = 0; i < value.length; i++) {
    const character = value[i] ?? "";
    if (character === "," || character === "=") {
      throw new SyntaxError(`invalid field selector: unescaped character in value: ${character.charCodeAt(0)}`);
    }
    if (character === "\\") {
      const next = value[++i] ?? "";
      if (!["\\", ",", "="].includes(next)) {
        throw new SyntaxError(`invalid field selector: invalid escape sequence: \\${next}`);
      }
      plain += next;
    } else plain += character;
  }
  return plain;
}
