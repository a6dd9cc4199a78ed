/** Text that is read by a library: where it cannot be, that is an error of the expression, or the answer "no". */
import { CelError } from "../value.ts";

/**
 * What a text reads as.
 *
 * @param read Reads it.
 * @param message What the error says; of the reader's own message where it should.
 * @throws {CelError} If the text cannot be read.
 */
export function parsed<T>(read: () => T, message: (fault: string) => string = (fault) => fault): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof SyntaxError ? new CelError(message(error.message), { cause: error }) : error;
  }
}

/** Whether a text can be read. */
export function parses(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
