/** Reserved words and literals of the language. */
import type { Token } from "./lexer.ts";
import type { Issues } from "./source.ts";
import { unescapeBytes, unescapeString } from "./unescape.ts";
import { Uint, type Value } from "./value.ts";

/** Words that cannot name variables or functions. */
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
 * Returns the value of a literal.
 *
 * @param token The literal.
 * @param isNegative Whether a minus sign precedes it.
 * @param offset The offset of the literal, including the minus sign.
 * @param issues Receives an issue if the literal is invalid.
 * @returns The value, or `undefined` if the literal is invalid.
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
      return unescapeOrReport(offset, issues, () => unescapeString(text));
    case "bytes":
      return unescapeOrReport(offset, issues, () => unescapeBytes(text));
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

// Adds an issue if an escape sequence is invalid.
function unescapeOrReport(offset: number, issues: Issues, unescape: () => Value): Value | undefined {
  try {
    return unescape();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    issues.add(offset, error.message);
    return undefined;
  }
}
