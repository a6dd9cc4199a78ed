/** Progress of long work, for a user at a terminal. */
import type { Io } from "./io.ts";

/**
 * Prints the next step on standard error if that is a terminal. Files and pipes get only results.
 *
 * @param description The step, such as `Compiling for aarch64`.
 * @param io The terminal and the shell.
 */
export function step(description: string, io: Io): void {
  if (io.isTerminal?.("err") === true) io.err(`${description} ...\n`);
}
