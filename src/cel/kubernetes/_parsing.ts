/**
 * Parses operands of libraries. A failure becomes a CEL error, or `false` for functions such as
 * `isURL`.
 */
import { CelError } from "../value.ts";

/**
 * Parses an operand.
 *
 * @param read The parser.
 * @param message Returns the message of the error. @default the parser's own message
 * @throws {CelError} If it cannot be parsed.
 */
export function parseOperand<T>(read: () => T, message: (error: string) => string = (error) => error): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof SyntaxError ? new CelError(message(error.message), { cause: error }) : error;
  }
}

/** Returns whether an operand can be parsed. */
export function isParsable(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
