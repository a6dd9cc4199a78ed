/** The command line of `op doctor`. */
import { Command } from "@commander-js/extra-typings";
import {
  examples,
  formOption,
  OPERATOR_FILE,
  WATCHED_NAMESPACES,
  withCluster,
  withGlobals,
} from "../command_options.ts";
import type { Io } from "../io.ts";

/** Returns the command `op doctor`. */
export function doctorCommand(io: Io) {
  return withCluster(new Command("doctor").description("Check an operator in a cluster and report what is wrong"))
    .argument("[file]", OPERATOR_FILE, "main.ts")
    .option("--into <namespace>", "namespace of the operator's Deployment (default: NAME-system)")
    .option(...WATCHED_NAMESPACES)
    .option("--stuck-after <duration>", "report an object whose deletion takes longer than this", "5m")
    .addOption(formOption())
    .addHelpText("after", examples("op doctor", "op doctor --context prod -o json"))
    .action(async (file, options, command) =>
      (await import("./doctor.ts")).doctor(file, withGlobals(options, command), io)
    );
}
