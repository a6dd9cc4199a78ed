/** The command line of `op crd import`. */
import { Command } from "@commander-js/extra-typings";
import { FORCE_OUTPUT, OUTPUT_FILE, withCluster } from "../command_options.ts";
import type { Io } from "../io.ts";

/** Returns the command `op crd import`. */
export function importCommand(io: Io) {
  return withCluster(
    new Command("import")
      .description("Generate TypeScript kinds from CustomResourceDefinitions, with rules, columns and versions")
      .argument("[file]", "YAML or JSON file with CustomResourceDefinitions, or - for standard input")
      .option("--cluster [name]", "read this kind from the cluster; without a name, list the kinds of the cluster")
      .option(
        "--kind <name>",
        "import only this kind, named as for kubectl; may be repeated (default: all)",
        (name: string, earlier: readonly string[] = []) => [...earlier, name],
      )
      .option("--descriptions <length>", "length of the descriptions: none, short or full", "full")
      .option("--own", "let the operator install, change and delete the CustomResourceDefinitions (default: external)")
      .option(...OUTPUT_FILE)
      .option(...FORCE_OUTPUT)
      .option("--report", "list the schemas that are written as JSON, and the fields that are lost"),
  )
    .action(async (file, options) => (await import("./import.ts")).importKind(file, options, io));
}
