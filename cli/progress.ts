/** What long work is at, for a person who waits. */
import type { Io } from "./io.ts";

/**
 * Tells what is begun: a line on standard error where that is a terminal, and nothing where it is not. Files and pipes get results alone.
 *
 * @param what What is done now, as `Compiling for aarch64`.
 * @param io The terminal and the shell.
 */
export function step(what: string, io: Io): void {
  if (io.isTerminal?.("err") === true) io.err(`${what} ...\n`);
}
