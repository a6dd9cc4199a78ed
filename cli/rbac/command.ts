/** The command line of `op rbac`. */
import { Command, Option } from "@commander-js/extra-typings";
import {
  CONFIG,
  FORCE_OUTPUT,
  formOption,
  OPERATOR_FILE,
  OUTPUT_FILE,
  WATCHED_NAMESPACES,
  withCluster,
  withInstallation,
} from "../command_options.ts";
import type { Io } from "../io.ts";

/** Returns the command `op rbac` with its subcommands. */
export function rbacCommand(io: Io) {
  return new Command("rbac")
    .description("Generate, verify and minimize an operator's RBAC permissions")
    .addCommand(
      withInstallation(new Command("generate").description("Print the ServiceAccount, roles and bindings as YAML"))
        .argument("[file]", OPERATOR_FILE, "main.ts")
        .option(...OUTPUT_FILE)
        .option(...FORCE_OUTPUT)
        .action(async (file, options) => (await import("./generate.ts")).generateRbac(file, options, io)),
    )
    .addCommand(
      withCluster(
        new Command("verify")
          .description("Check that roles grant what an operator needs; exits with 1 if a permission is missing")
          .argument("[file]", OPERATOR_FILE, "main.ts")
          .option("-f, --file <files...>", "YAML or JSON files with roles and bindings, or - for standard input")
          .option("--cluster", "read the roles and bindings of the cluster")
          .option("--as <account>", "ServiceAccount, as NAME or NAMESPACE:NAME (default: the operator's name)")
          .option(...WATCHED_NAMESPACES)
          .option(...CONFIG)
          .option("--exact", "also exit with 1 if roles grant more than the operator needs")
          .addOption(formOption()),
      )
        .action(async (file, options) => (await import("./verify.ts")).verifyRbac(file, options, io)),
    )
    .addCommand(
      new Command("unused")
        .description("Run the tests and print the permissions that no test uses; exits with 1 if there are any")
        .argument("[file]", OPERATOR_FILE, "main.ts")
        .argument("[command...]", "command after -- that runs the tests (default: deno test --allow-all)")
        .option(...CONFIG)
        .addOption(
          new Option("-o, --output <format>", "output format").choices(["text", "json"] as const).default("text"),
        )
        .action(async (file, command, options) =>
          (await import("./unused.ts")).unusedRules(file, command, options, io)
        ),
    );
}
