/** The commands around a project: making it, running it, looking at what a cluster has of it. */
import { type Command, Option, type OptionValues } from "@commander-js/extra-typings";
import { FORMS, type GlobalOptions } from "./global_options.ts";
import type { Io } from "./io.ts";

const OPERATOR_FILE = "the file whose default export is the operator";

/** Whatever the options of a command are, what can be said to every command is among them. */
function all<T>(options: T, command: { optsWithGlobals(): OptionValues }): T & GlobalOptions {
  return { ...options, ...command.optsWithGlobals() };
}

/** `op new`, with what it makes. */
export function addNew(op: Command, io: Io): void {
  const make = op.command("new")
    .description("make something new; alone it asks, and where nobody can be asked makes an operator with a controller")
    .option("--dir <folder>", "the folder to make (default: the name, here)")
    .option("--sdk <folder>", "use the SDK in this folder instead of the published one")
    .addHelpText("after", examples("op new", "op new operator shop", NEW_CONTROLLER, NEW_WEBHOOK, NEW_VERSION))
    // What stands behind it and is none of its commands is a mistyped one: commander knows how to say so, though its types do not.
    .action(async (options, command) => {
      if (command.args.length > 0) (command as unknown as { unknownCommand(): never }).unknownCommand();
      await (await import("./new/ask.ts")).newAnything(all(options, command), io);
    });
  make.command("operator")
    .description("make a project: an operator with one kind, its controller and a test")
    .argument("<name>", "the operator's name: small letters, digits and dashes")
    .option("--dir <folder>", "the folder to make (default: the name, here)")
    .option("--sdk <folder>", "use the SDK in this folder instead of the published one")
    .option("--kind <kind>", "its first kind, in CamelCase (default: Website)")
    .option("--api-version <version>", "the version of that kind (default: v1)")
    .option("--group <group>", "the group of that kind, a domain of yours (default: demo.example.com)")
    .addHelpText(
      "after",
      examples("op new operator shop", "op new operator shop --kind Cache --group shop.example.com"),
    )
    .action(async (name, options, command) =>
      (await import("./new/operator.ts")).newOperator(name, all(options, command), io)
    );
  withEdit(make.command("controller").description("add a kind, its controller and a test to a project"))
    .argument("[file]", OPERATOR_FILE, "main.ts")
    .requiredOption("--kind <kind>", "the kind, in CamelCase; one of Kubernetes' own gets a controller alone")
    .requiredOption("--api-version <version>", "its version, such as v1")
    .requiredOption("--group <group>", 'its group, a domain of yours; "" or such as apps for kinds of Kubernetes')
    .addHelpText("after", examples(NEW_CONTROLLER, 'op new controller --kind Node --api-version v1 --group ""'))
    .action(async (file, options, command) =>
      (await import("./new/controller.ts")).newController(file, all(options, command), io)
    );
  withEdit(make.command("webhook").description("add to a project what is asked before objects are stored"))
    .argument("[file]", OPERATOR_FILE, "main.ts")
    .requiredOption("--kind <kind>", "the kind: one of the operator's, or of Kubernetes")
    .requiredOption("--api-version <version>", "its version, such as v1")
    .requiredOption("--type <type>", "validation refuses objects, mutation changes them")
    .option("--group <group>", "its group (default: the only one that has a kind of that name)")
    .option("--module <file>", "the module that exports the kind (default: KIND/VERSION.ts)")
    .addHelpText("after", examples(NEW_WEBHOOK))
    .action(async (file, options, command) =>
      (await import("./new/webhook.ts")).newWebhook(file, all(options, command), io)
    );
  withEdit(make.command("version").description("add a version to a kind, with its conversion and a test"))
    .argument("[file]", OPERATOR_FILE, "main.ts")
    .requiredOption("--kind <kind>", "the kind: one of the operator's own")
    .requiredOption("--api-version <version>", "the new version, such as v2")
    .option("--group <group>", "its group (default: the only one that has a kind of that name)")
    .option("--module <file>", "the module that exports the stored version (default: KIND/VERSION.ts)")
    .addHelpText("after", examples(NEW_VERSION))
    .action(async (file, options, command) =>
      (await import("./new/version.ts")).newVersion(file, all(options, command), io)
    );
  // Behind its commands, which would take it over.
  make.allowExcessArguments();
}

const NEW_CONTROLLER = "op new controller --kind Cache --api-version v1 --group shop.example.com";
const NEW_VERSION = "op new version --kind Cache --api-version v2";
const NEW_WEBHOOK = "op new webhook --kind Cache --api-version v1 --type validation";

function withEdit<Args extends unknown[], Options extends OptionValues>(command: Command<Args, Options>) {
  return command
    .option("--part <key>", "its key among the operator's parts (default: made from the kind)")
    .option("--no-edit", "make the files alone, and print what to add to the operator's module");
}

/** `op start`, `op dev`, `op plan`, `op doctor`. */
export function addRunning(op: Command, io: Io): void {
  withCluster(op.command("start").description("run an operator here, with your own rights, against a cluster"))
    .argument("[file]", `${OPERATOR_FILE}; it needs no project around it`, "main.ts")
    .argument("[more...]", "behind --: what the operator's own start takes besides")
    .option("-n, --namespace <names...>", "the only namespaces that it looks at (default: all)")
    .option("--skip-controllers", "serve webhooks alone")
    .option("--skip-webhook-server", "run controllers alone")
    .addHelpText("after", examples("op start", "op start single_file.ts --context dev -n team", "op start -- --paused"))
    .action(async (file, more, options, command) =>
      (await import("./run/start.ts")).start(file, more, all(options, command), io)
    );

  withCluster(op.command("dev").description("run an operator here as its service account, anew whenever it is saved"))
    .argument("[file]", `${OPERATOR_FILE}; it needs no project around it`, "main.ts")
    .option("--local", "on an API server in this process, for kubectl too: no cluster is needed")
    .option("--alongside", "run though the operator runs in the cluster already: both write the same objects")
    .option("--adopt", "take over objects that belong to another operator of the same name")
    .option("--as-me", "with your own rights, where you may not act as the service account")
    .option(...ALLOW_BREAKING)
    .option("--no-check", "do not check types while the operator runs")
    .option("-n, --namespace <names...>", "the only namespaces that it looks at and has rights in (default: all)")
    .option("--skip-controllers", "serve webhooks alone")
    .option("--skip-webhook-server", "run controllers alone")
    .option("--webhook-url <url>", "by which the API server reaches this machine (default: as this machine reaches it)")
    .option("--webhook-port <port>", "where webhooks are served here (default: any that is free)")
    .addHelpText("after", examples("op dev", "op dev --local", "op dev --context kind-dev -l debug"))
    .action(async (file, options, command) => (await import("./run/dev.ts")).dev(file, all(options, command), io));

  withCluster(op.command("plan").description("print what an operator would write now, as a diff; nothing is stored"))
    .argument("[file]", `${OPERATOR_FILE}; its code runs, and what it does beside the API server is done`, "main.ts")
    .option("--as-account", "with the rights of its service account (default: yours)")
    .option("-n, --namespace <names...>", "the only namespaces that it looks at (default: all)")
    .option("--check", "end with 1 if something would be written")
    .option("--show-secrets", "print the values of Secrets (default: *** in their place)")
    .option("--quiet <duration>", "how long nothing must happen until it is over", "1s")
    .option("--timeout <duration>", "how long it may take", "60s")
    .addOption(formOption())
    .addHelpText("after", examples("op plan", "op plan -n team --as-account", "op plan --check -o json"))
    .action(async (file, options, command) => (await import("./run/plan.ts")).plan(file, all(options, command), io));

  withCluster(op.command("doctor").description("look at an operator in a cluster: what is there, and what is wrong"))
    .argument("[file]", OPERATOR_FILE, "main.ts")
    .option("--into <namespace>", "the namespace that it runs in (default: its name and -system)")
    .option("-n, --namespace <names...>", "the only namespaces that it looks at and has rights in (default: all)")
    .option("--stuck-after <duration>", "after how long an object that is being deleted is stuck", "5m")
    .addOption(formOption())
    .addHelpText("after", examples("op doctor", "op doctor --context prod -o json"))
    .action(async (file, options, command) =>
      (await import("./doctor/doctor.ts")).doctor(file, all(options, command), io)
    );
}

function withCluster<Args extends unknown[], Options extends OptionValues>(command: Command<Args, Options>) {
  return command
    .option("--kubeconfig <file>", "the kubeconfig (default: KUBECONFIG, else ~/.kube/config)")
    .option("--context <name>", "the context of the kubeconfig (default: its current one)");
}

/** For commands that apply definitions of kinds. */
export const ALLOW_BREAKING = [
  "--allow-breaking",
  "apply definitions of kinds even if stored objects lose fields or no longer fit",
] as const;

/** How what is data is printed. */
export function formOption() {
  return new Option("-o, --output <form>", "how to print it").choices(FORMS).default("text" as const);
}

/** Lines of examples under a help text. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}\n`).join("")}`.trimEnd();
}

/** `op completions`, `op version`. */
export function addOwn(op: Command, io: Io): void {
  op.command("completions")
    .description("print a script by which a shell completes the commands")
    .argument("<shell>", "bash, zsh or fish")
    .addHelpText(
      "after",
      examples(
        "op completions bash > ~/.local/share/bash-completion/completions/op",
        "op completions fish > ~/.config/fish/completions/op.fish",
      ),
    )
    .action(async (shell) => io.out((await import("./completions.ts")).completions(shell, op)));
  op.command("version").description("print the versions of op and of what it runs on").addOption(formOption())
    .action(async (options) => (await import("./version_command.ts")).version(options, io));
}
