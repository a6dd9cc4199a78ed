/** Field selectors as text, with the server's words for those that are none (`k8s.io/apimachinery/pkg/fields`, `ParseSelector`). */

/** What a selector asks of one field. */
export interface FieldRequirement {
  readonly field: string;
  readonly value: string;
  /** Whether the field is to have the value, or any other. */
  readonly isEqual: boolean;
}

/**
 * Reads a field selector. Which fields there are, a server alone knows.
 *
 * @param text The selector, such as `metadata.name=web`. An empty one asks nothing.
 * @throws {SyntaxError} If it is none.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(parseFieldSelector("spec.host!=a"), [{ field: "spec.host", value: "a", isEqual: false }]);
 * assert.throws(() => parseFieldSelector("web"), { message: "invalid selector: 'web'; can't understand 'web'" });
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

/** A comma behind a backslash is part of a value. */
function terms(text: string): string[] {
  return text.match(/(?:[^\\,]|\\[^])+/g) ?? [];
}

/** A value without its backslashes, which stand before a comma, an equals sign or each other. */
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
