/** The commands of `op`: from arguments to a function, from how that ends to an exit code. */
import { Command, CommanderError, InvalidArgumentError, Option, type OptionValues } from "@commander-js/extra-typings";
import { build } from "./build/build.ts";
import type { CrdDiffOptions } from "./crd/diff.ts";
import { EXIT, silentEnd, UsageError } from "./exit_code.ts";
import type { Io } from "./io.ts";
import { addNew, addOwn, addRunning, ALLOW_BREAKING, formOption } from "./project_commands.ts";
import { printingSafely } from "./terminal.ts";
import { VERSION } from "./version.ts";

/**
 * Runs `op`. It never ends the process.
 *
 * @param args What stands behind `op`.
 * @param terminal The terminal and the shell.
 * @returns The exit code: 0 when done, 1 when something could not be done, 2 when the command line was wrong.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * let said = "";
 * const io = { out: (text: string) => void (said += text), err: () => {}, cwd: "/", env: () => undefined };
 * assert.equal(await cli(["--version"], io), 0);
 * assert.match(said, /^op \d+\.\d+\.\d+/);
 * ```
 */
export async function cli(args: readonly string[], terminal: Io): Promise<number> {
  const io = printingSafely(terminal);
  try {
    const op = program(io);
    await op.parseAsync(withHelp(op, args), { from: "user" });
    return EXIT.done;
  } catch (error) {
    // Commander has said what was wrong, or shown the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    const code = silentEnd(error);
    if (code !== undefined) return code;
    io.err(`${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof UsageError ? EXIT.usage : EXIT.failed;
  }
}

/** `op help new operator` as `op new operator --help`: commander's own help knows one level of commands. */
function withHelp(op: Command, args: readonly string[]): string[] {
  const [first, ...names] = args;
  if (first !== "help" || names.length < 2 || names.some((name) => name.startsWith("-"))) return [...args];
  let command: Pick<Command, "commands"> = op;
  for (const [index, name] of names.entries()) {
    // What stands behind a command that has none of its own is its argument.
    if (command.commands.length === 0) return [...names.slice(0, index), "--help"];
    const next = command.commands.find((one) => one.name() === name);
    // A mistyped one is reported by its parent, with what may be meant.
    if (next === undefined) return names;
    command = next;
  }
  return [...names, "--help"];
}

function program(io: Io): Command {
  const op = new Command("op")
    .description("Kubernetes operators in TypeScript: make one, build it, see what a cluster needs for it.")
    .version(`op ${VERSION}`, "-V, --version", "print the version")
    .option("-c, --config <file>", "the file with settings (default: operator.toml, where it is there)")
    .addOption(
      new Option("-l, --log-level <level>", "how much operators that are started tell").choices(LEVELS),
    )
    .option("--no-color", "no colors, as with NO_COLOR")
    // What stands before or behind a command's own name is the command's all the same.
    .hook("preAction", (op, command) => {
      for (const [name, value] of Object.entries(op.opts())) command.setOptionValue(name, value);
    })
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "print the help of a command")
    .addHelpText("after", "\nExit codes: 0 done, 1 could not be done, 2 wrong command line.")
    .exitOverride()
    .configureOutput({
      writeOut: io.out,
      writeErr: io.err,
      getOutHelpWidth: () => HELP_WIDTH,
      getErrHelpWidth: () => HELP_WIDTH,
    });

  // What works on schemas loads the SDK: only when it is asked for.
  // Settings of `op` reach a command only when it is made by its parent, which `command()` does and `addCommand()` does not.
  addNew(op as unknown as Command, io);

  op.command("build")
    .description("make one executable of an operator, with only the permissions it needs")
    .argument("[file]", `${OPERATOR_FILE}; it needs no project around it`, "main.ts")
    .option("-o, --output <file>", "the executable to write (default: dist/ and the operator's name)")
    .option("--image", "make its image too, by [build.builder] and [build.image] of operator.toml (default: docker)")
    .option(
      "--compiler <deno>",
      "the Deno that compiles (default: DENO_COMPILER, else the one that runs op); DENORT_BIN names its runtime where that cannot be downloaded",
    )
    .option("-c, --config <file>", CONFIG)
    .option("--target <machine>", "the machine it is for: x86_64, aarch64, or a target of Deno (default: this one)")
    .option(
      "--telemetry",
      "send traces by OpenTelemetry where OTEL_EXPORTER_OTLP_ENDPOINT says (build.telemetry of operator.toml)",
    )
    .option("--force", "replace the output even if it is no executable made by op")
    .action((file, options) => build(file, options, io));

  op.command("trace")
    .description("print a log of an executable with its stack traces as source")
    .argument("<executable>", "the executable, or the .map that op build put beside it")
    .argument("[log]", "the log, or - for standard input", "-")
    .action(async (executable, log) => (await import("./trace/trace.ts")).trace(executable, log, io));

  op.command("crds")
    .description("print the CustomResourceDefinitions of an operator as YAML")
    .argument("[file]", OPERATOR_FILE, "main.ts")
    .option("-c, --config <file>", CONFIG)
    .action(async (file, options) => (await import("./crds.ts")).crds(file, options, io));

  const made = op.command("generate").description("make the files of an operator's manifests, for kustomize");
  for (const [part, what] of Object.entries(GENERATED)) {
    withPlace(made.command(part).description(`make ${what}`).argument("[file]", OPERATOR_FILE, "main.ts"))
      .option("--dir <folder>", "the folder of the files", "config")
      .option("--check", "write nothing; end with 1 if a file is not what the operator declares")
      .option("--force", "replace files that were changed by hand")
      .action(async (file, options) =>
        (await import("./generate/generate.ts")).generate(part as keyof typeof GENERATED, file, options, io)
      );
  }
  withPlace(made.command("overlay").description("make an overlay: what differs in one cluster"))
    .argument("<name>", 'its name, such as prod; "local" is for minikube, kind and k3d, "split" runs webhooks apart')
    .argument("[file]", OPERATOR_FILE, "main.ts")
    .option("--dir <folder>", "the folder of the files", "config")
    .option("--force", "replace the overlay if it is there")
    .action(async (name, file, options) =>
      (await import("./generate/generate.ts")).generateOverlay(name, file, options, io)
    );

  const rbac = op.command("rbac").description("the rights of an operator in a cluster");
  withPlace(rbac.command("generate").description("print its service account, roles and bindings as YAML"))
    .argument("[file]", OPERATOR_FILE, "main.ts")
    .option("-o, --output <file>", "the file to write (default: standard output)")
    .option("--force", "replace the output if it is there")
    .action(async (file, options) => (await import("./rbac/generate.ts")).generateRbac(file, options, io));
  rbac.command("verify")
    .description("compare the rights it needs with those that roles give; ends with 1 if one is missing")
    .argument("[file]", OPERATOR_FILE, "main.ts")
    .option("-f, --file <files...>", "files with roles and bindings (YAML or JSON), or - for standard input")
    .option("--cluster", "the roles and bindings of the cluster")
    .option("--as <account>", "the service account, as NAME or NAMESPACE:NAME (default: the operator's name)")
    .option("-n, --namespace <names...>", "the only namespaces that it looks at (default: all)")
    .option("-c, --config <file>", CONFIG)
    .option("--exact", "end with 1 also if more is given than needed")
    .addOption(formOption())
    .option("--kubeconfig <file>", "the kubeconfig (default: KUBECONFIG, else ~/.kube/config)")
    .option("--context <name>", "the context of the kubeconfig (default: its current one)")
    .action(async (file, options) => (await import("./rbac/verify.ts")).verifyRbac(file, options, io));

  rbac.command("unused")
    .description("run the tests and print the rights that are declared and that no test uses; ends with 1 if there are")
    .argument("[file]", "the file whose default export is the operator", "main.ts")
    .argument("[command...]", "what runs the tests, behind -- (default: deno test --allow-all)")
    .option("-c, --config <file>", CONFIG)
    .addOption(new Option("-o, --output <form>", "how to print it").choices(["text", "json"] as const).default("text"))
    .action(async (file, command, options) =>
      (await import("./rbac/unused.ts")).unusedRights(file, command, options, io)
    );

  addRunning(op as unknown as Command, io);

  withCluster(
    op.command("deploy").description("put an operator into a cluster by server-side apply, and wait until it runs"),
  )
    .argument(
      "<overlay>",
      "an overlay's name, a folder with a kustomization, a file with objects, or - for standard input",
    )
    .option("--dir <folder>", "the folder that overlays are in", "config")
    .option("--dry-run", "ask the server what would be, and change nothing")
    .option(...ALLOW_BREAKING)
    .option("--adopt", "take over objects that belong to another operator of the same name")
    .option("--release-finalizers", "remove finalizers of controllers that the new version does not have")
    .option("--take-back", "take webhooks and conversions from an op dev that is running")
    .option("--no-wait", "do not wait until it runs")
    .option("--timeout <duration>", "how long to wait", "2m")
    .action(async (overlay, options) => (await import("./deploy/deploy.ts")).deploy(overlay, options, io));

  withPlace(
    withCluster(
      op.command("uninstall").description("take an operator out of a cluster: its objects, itself, its kinds"),
    ),
  )
    .argument("[file]", OPERATOR_FILE, "main.ts")
    .option("--yes", "do it (default: tell what would go)")
    .option("--adopt", "also delete objects that belong to another operator of the same name")
    .option("--keep-objects", "leave its kinds and their objects")
    .option(
      "--release-finalizers",
      "remove the operator's finalizers where it did not clean up in time, and from objects of kinds of others",
    )
    .option("--orphan-dependents", "delete its kinds though objects that their objects owned are left")
    .option("--timeout <duration>", "how long it has to clean up, and the garbage collector after it", "2m")
    .action(async (file, options) => (await import("./deploy/uninstall.ts")).uninstall(file, options, io));

  op.command("sandbox")
    .description("print what the executable of an operator may reach, each with its reason")
    .argument("[file]", OPERATOR_FILE, "main.ts")
    .addOption(formOption())
    .action(async (file, options) => (await import("./sandbox.ts")).sandbox(file, options as never, io));

  const crd = op.command("crd").description("work with the kinds of an operator, or of CustomResourceDefinitions");
  crd.command("docs")
    .description("print a reference page of kinds as Markdown: versions, columns, every field with its rules")
    .argument(
      "[file]",
      "an operator's file (.ts), a file with CustomResourceDefinitions (YAML or JSON), or - for standard input",
      "main.ts",
    )
    .option("-o, --output <file>", "the file to write (default: standard output)")
    .option("--force", "replace the output if it is there")
    .option("-c, --config <file>", CONFIG)
    .action(async (file, options) => (await import("./crd/docs.ts")).crdDocs(file, options, io));

  crd.command("diff")
    .description("compare definitions of kinds; ends with 1 if a change breaks those who use them")
    .argument("<old>", "what is installed: an operator's file (.ts), YAML, JSON, or - for standard input")
    .argument("<new>", "what is to be, likewise")
    .option("-c, --config <file>", CONFIG)
    .addOption(formOption())
    .action(async (before, after, options) =>
      (await import("./crd/diff.ts")).crdDiff(before, after, options as CrdDiffOptions, io)
    );

  op.command("import")
    .description("make TypeScript kinds of CustomResourceDefinitions, with their rules, columns and versions")
    .argument("[file]", "a file with CustomResourceDefinitions (YAML or JSON), or - for standard input")
    .option("--cluster [name]", "read from the cluster: the kind of that name; with no name, list what is there")
    .option(
      "--kind <name>",
      "only this kind, named as for kubectl; may be said again (default: all)",
      (name: string, earlier: readonly string[] = []) => [...earlier, name],
    )
    .option("--descriptions <how>", "how much of the descriptions to take over: none, short or full", "full")
    .option(
      "--own",
      "take the CustomResourceDefinitions over: the operator installs and deletes them (default: external)",
    )
    .option("-o, --output <file>", "the file to write (default: standard output)")
    .option("--force", "replace the output if it is there")
    .option("--report", "say of each kind what could not be said by builders")
    .option("--kubeconfig <file>", "the kubeconfig (default: KUBECONFIG, else ~/.kube/config)")
    .option("--context <name>", "the context of the kubeconfig (default: its current one)")
    .action(async (file, options) => (await import("./import/import.ts")).importKind(file, options, io));

  op.command("apiserver")
    .description("serve a Kubernetes API from memory, for kubectl and any other client, until Ctrl-C")
    .option("--port <number>", "the port to listen on (default: any free one)")
    .option("--kubeconfig <file>", "write the kubeconfig there (default: a file of its own, gone at the end)")
    .option("--force", "replace the kubeconfig file if it is there")
    .option("--rbac", "enforce roles and bindings; the kubeconfig is the administrator's")
    .option("--no-tls", "serve plain HTTP to any program on this machine (default: HTTPS, to the kubeconfig's user)")
    .action(async (options) => (await import("./apiserver/apiserver.ts")).apiserver(options, io));

  addOwn(op as unknown as Command, io);
  nameInHints(op as unknown as Command, "op");
  return op as unknown as Command;
}

/**
 * Whoever mistyped an option of a command is led to the help of that command. What is missing is told behind what is mistyped, and all at once: commander
 * tells the first one missing, which is the one that was mistyped.
 */
function nameInHints(command: Command, path: string): void {
  const hint = `(run "${path} --help" to see what there is)`;
  command.showHelpAfterError(hint);
  const needed = command.options.filter(({ mandatory }) => mandatory);
  for (const option of needed) option.mandatory = false;
  if (needed.length > 0) {
    command.hook("preAction", () => {
      const missing = needed.filter((option) => command.getOptionValue(option.attributeName()) === undefined);
      if (missing.length === 0) return;
      throw new UsageError(`Cannot run "${path}": say ${missing.map(({ flags }) => flags).join(", ")} too\n${hint}`);
    });
  }
  for (const below of command.commands) nameInHints(below as Command, `${path} ${below.name()}`);
}

const LEVELS = ["debug", "info", "warn", "error"] as const;

const OPERATOR_FILE = "the file whose default export is the operator";

const CONFIG =
  "how it is built, generated and run (default: operator.toml beside the operator's file, where it is there)";

const GENERATED = {
  manifests: "all of them: definitions, roles, Deployment, samples and a base",
  crd: "the CustomResourceDefinitions and a sample of each kind",
  rbac: "the service account and its roles",
  webhooks: "the configurations of its webhooks",
  deployment: "the Deployment, its settings, and what guards and watches it",
} as const;

/** Which cluster. */
function withCluster<Args extends unknown[], Options extends OptionValues>(command: Command<Args, Options>) {
  return command
    .option("--kubeconfig <file>", "the kubeconfig (default: KUBECONFIG, else ~/.kube/config)")
    .option("--context <name>", "the context of the kubeconfig (default: its current one)");
}

/** Where and how an operator is installed. */
function withPlace<Args extends unknown[], Options extends OptionValues>(command: Command<Args, Options>) {
  return command
    .option("-c, --config <file>", CONFIG)
    .option("--into <namespace>", "the namespace that it runs in (default: its name and -system)", namespace)
    .option(
      "-n, --namespace <names...>",
      "the only namespaces that it looks at and has rights in (default: all)",
      (name: string, earlier: readonly string[] = []) => [...earlier, namespace(name)],
    )
    .option("--image <image>", "the image of its executable (default: its name and version)", image)
    .addOption(
      new Option("--certificates <source>", "where the certificate of its webhooks comes from (default: self)")
        .choices(["self", "cert-manager", "files"] as const),
    );
}

function namespace(name: string): string {
  if (/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) return name;
  throw new InvalidArgumentError("It must be small letters, digits and dashes, at most 63.");
}

function image(name: string): string {
  if (/^\S+$/.test(name)) return name;
  throw new InvalidArgumentError('Write it as "registry/name:tag".');
}

// The same on every terminal, so that help reads the same in documents, tests and logs.
const HELP_WIDTH = 100;
