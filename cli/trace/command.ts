/** The command line of `op trace`. */
import { Command } from "@commander-js/extra-typings";
import type { Io } from "../io.ts";

/** Returns the command `op trace`. */
export function traceCommand(io: Io) {
  return new Command("trace")
    .description("Print a log with the stack traces of an executable mapped to its source")
    .argument("<executable>", "executable, or the .map file that op build wrote next to it")
    .argument("[log]", "log file, or - for standard input", "-")
    .action(async (executable, log) => (await import("./trace.ts")).trace(executable, log, io));
}
