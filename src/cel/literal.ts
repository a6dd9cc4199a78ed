/** Words and literals of the language. */
import type { Token } from "./lexer.ts";
import type { Issues } from "./source.ts";
import { unescapeBytes, unescapeString } from "./unescape.ts";
import { Uint, type Value } from "./value.ts";

/** Words that cannot be names of variables and functions. */
export const RESERVED: ReadonlySet<string> = new Set([
  "as",
  "break",
  "const",
  "continue",
  "else",
  "false",
  "for",
  "function",
  "if",
  "import",
  "in",
  "let",
  "loop",
  "package",
  "namespace",
  "null",
  "return",
  "true",
  "var",
  "void",
  "while",
]);

const LARGEST_INT = 2n ** 63n - 1n;
const LARGEST_UINT = 2n ** 64n - 1n;

/**
 * The value of a literal.
 *
 * @param token The literal.
 * @param isNegative Whether a minus is before it.
 * @param offset Where it begins, with the minus.
 * @param issues Where it is noted if the literal stands for no value.
 * @returns Nothing where it stands for none.
 */
export function literalValue(token: Token, isNegative: boolean, offset: number, issues: Issues): Value | undefined {
  const { kind, text } = token;
  switch (kind) {
    case "int": {
      const value = isNegative ? -BigInt(text) : BigInt(text);
      if (value <= LARGEST_INT && value >= -LARGEST_INT - 1n) return value;
      break;
    }
    case "uint": {
      const value = BigInt(text.slice(0, -1));
      if (value <= LARGEST_UINT) return new Uint(value);
      break;
    }
    case "float": {
      const value = Number(isNegative ? `-${text}` : text);
      if (Number.isFinite(value)) return value;
      break;
    }
    case "string":
      return unescaped(offset, issues, () => unescapeString(text));
    case "bytes":
      return unescaped(offset, issues, () => unescapeBytes(text));
    case "true":
      return true;
    case "false":
      return false;
    default:
      return null;
  }
  issues.add(offset, `invalid ${kind === "float" ? "double" : kind} literal`);
  return undefined;
}

function unescaped(offset: number, issues: Issues, unescape: () => Value): Value | undefined {
  try {
    return unescape();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    issues.add(offset, error.message);
    return undefined;
  }
}
