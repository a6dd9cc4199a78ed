/** The command line of `op new`. */
import { Command, type OptionValues } from "@commander-js/extra-typings";
import { examples, OPERATOR_FILE, withGlobals } from "../command_options.ts";
import type { Io } from "../io.ts";

const DIR = ["--dir <folder>", "folder to create (default: the operator's name)"] as const;
const SDK = ["--sdk <folder>", "use the SDK in this folder instead of the published package"] as const;
const GROUP = ["--group <group>", "API group of the kind (default: the only group with a kind of that name)"] as const;

const NEW_CONTROLLER = "op new controller --kind Cache --api-version v1 --group shop.example.com";
const NEW_VERSION = "op new version --kind Cache --api-version v2";
const NEW_WEBHOOK = "op new webhook --kind Cache --api-version v1 --type validation";

/** Returns the command `op new` with its subcommands. */
export function newCommand(io: Io) {
  return new Command("new")
    .description(
      "Create a project, or add to one; without a subcommand, ask for names on a terminal and use defaults elsewhere",
    )
    .option(...DIR)
    .option(...SDK)
    .addHelpText("after", examples("op new", "op new operator shop", NEW_CONTROLLER, NEW_WEBHOOK, NEW_VERSION))
    .addCommand(operatorCommand(io))
    .addCommand(controllerCommand(io))
    .addCommand(webhookCommand(io))
    .addCommand(versionCommand(io))
    // A mistyped subcommand arrives here as an argument.
    .usage("[options] [command]")
    .argument("[command...]")
    .action(async ([name], options, command) => {
      const { newProject, unknownSubcommand } = await import("./ask.ts");
      if (name !== undefined) command.error(unknownSubcommand(name, command.commands.map((one) => one.name())));
      await newProject(withGlobals(options, command), io);
    });
}

function operatorCommand(io: Io) {
  return new Command("operator")
    .description("Create a project: an operator with one kind, its controller and a test")
    .argument("<name>", "name of the operator: lowercase letters, digits and dashes")
    .option(...DIR)
    .option(...SDK)
    .option("--kind <kind>", "first kind, in CamelCase (default: Website)")
    .option("--api-version <version>", "version of that kind (default: v1)")
    .option("--group <group>", "API group of that kind, a domain that you own (default: demo.example.com)")
    .addHelpText(
      "after",
      examples("op new operator shop", "op new operator shop --kind Cache --group shop.example.com"),
    )
    .action(async (name, options, command) =>
      (await import("./operator.ts")).newOperator(name, withGlobals(options, command), io)
    );
}

function controllerCommand(io: Io) {
  return withEdit(new Command("controller").description("Add a kind, its controller and a test to a project"))
    .argument("[file]", OPERATOR_FILE, "main.ts")
    .requiredOption("--kind <kind>", "kind in CamelCase; for a kind of Kubernetes, only the controller is added")
    .requiredOption("--api-version <version>", "version of the kind, such as v1")
    .requiredOption("--group <group>", 'API group: a domain that you own, or "" or "apps" for kinds of Kubernetes')
    .addHelpText("after", examples(NEW_CONTROLLER, 'op new controller --kind Node --api-version v1 --group ""'))
    .action(async (file, options, command) =>
      (await import("./controller.ts")).newController(file, withGlobals(options, command), io)
    );
}

function webhookCommand(io: Io) {
  return withEdit(new Command("webhook").description("Add an admission webhook to a project"))
    .argument("[file]", OPERATOR_FILE, "main.ts")
    .requiredOption("--kind <kind>", "kind of the operator, or of Kubernetes")
    .requiredOption("--api-version <version>", "version of the kind, such as v1")
    .requiredOption("--type <type>", "validation to reject objects, or mutation to change them")
    .option(...GROUP)
    .option("--module <file>", "module that exports the kind (default: KIND/VERSION.ts)")
    .addHelpText("after", examples(NEW_WEBHOOK))
    .action(async (file, options, command) =>
      (await import("./webhook.ts")).newWebhook(file, withGlobals(options, command), io)
    );
}

function versionCommand(io: Io) {
  return withEdit(new Command("version").description("Add a version to a kind, with its conversion and a test"))
    .argument("[file]", OPERATOR_FILE, "main.ts")
    .requiredOption("--kind <kind>", "kind of the operator")
    .requiredOption("--api-version <version>", "new version, such as v2")
    .option(...GROUP)
    .option("--module <file>", "module that exports the stored version (default: KIND/VERSION.ts)")
    .addHelpText("after", examples(NEW_VERSION))
    .action(async (file, options, command) =>
      (await import("./version.ts")).newVersion(file, withGlobals(options, command), io)
    );
}

function withEdit<Args extends unknown[], Options extends OptionValues>(command: Command<Args, Options>) {
  return command
    .option("--part <key>", "key in the operator's parts (default: derived from the kind)")
    .option("--no-edit", "only create files, and print what to add to the operator's module");
}
