/** The command line of `op crd`. */
import { Command } from "@commander-js/extra-typings";
import { CONFIG, FORCE_OUTPUT, formOption, OPERATOR_FILE, OUTPUT_FILE } from "../command_options.ts";
import { importCommand } from "../import/command.ts";
import type { Io } from "../io.ts";

const DEFINITIONS = "an operator's file (.ts), CustomResourceDefinitions (YAML or JSON), or - for standard input";

/** Returns the command `op crd` with its subcommands. */
export function crdCommand(io: Io) {
  return new Command("crd")
    .description("Print, compare, document and import CustomResourceDefinitions")
    .addCommand(
      new Command("print")
        .description("Print the CustomResourceDefinitions of an operator as YAML")
        .argument("[file]", OPERATOR_FILE, "main.ts")
        .option(...CONFIG)
        .action(async (file, options) => (await import("./print.ts")).crdPrint(file, options, io)),
    )
    .addCommand(
      new Command("diff")
        .description("Compare CustomResourceDefinitions; exits with 1 if a change breaks existing objects or clients")
        .argument("<old>", `installed definitions: ${DEFINITIONS}`)
        .argument("<new>", "new definitions, in the same forms")
        .option(...CONFIG)
        .addOption(formOption())
        .action(async (before, after, options) => (await import("./diff.ts")).crdDiff(before, after, options, io)),
    )
    .addCommand(
      new Command("docs")
        .description("Print a reference page in Markdown: versions, columns, and every field with its rules")
        .argument("[file]", DEFINITIONS, "main.ts")
        .option(...OUTPUT_FILE)
        .option(...FORCE_OUTPUT)
        .option(...CONFIG)
        .action(async (file, options) => (await import("./docs.ts")).crdDocs(file, options, io)),
    )
    .addCommand(importCommand(io));
}
