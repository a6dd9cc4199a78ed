/** The command line of `op sandbox`. */
import { Command } from "@commander-js/extra-typings";
import { CONFIG, formOption, OPERATOR_FILE } from "../command_options.ts";
import type { Io } from "../io.ts";

/** Returns the command `op sandbox`. */
export function sandboxCommand(io: Io) {
  return new Command("sandbox")
    .description("Print the sandbox permissions of an operator's executable and the reason for each")
    .argument("[file]", OPERATOR_FILE, "main.ts")
    .option(...CONFIG)
    .addOption(formOption())
    .action(async (file, options) => (await import("./sandbox.ts")).sandbox(file, options, io));
}
