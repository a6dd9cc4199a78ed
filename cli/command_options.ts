/** Arguments and options that several commands share, so that they read the same everywhere. */
import { type Command, InvalidArgumentError, Option, type OptionValues } from "@commander-js/extra-typings";
import { FORMS, type GlobalOptions } from "./global_options.ts";

/** Description of the argument that names an operator. */
export const OPERATOR_FILE = "TypeScript file whose default export is the operator";

/** Description of the argument that names an operator, for commands that need no project. */
export const SINGLE_FILE = `${OPERATOR_FILE}; it may be a single file without a project`;

/** The option that names `operator.toml`. */
export const CONFIG = [
  "-c, --config <file>",
  "operator.toml with the build, generate and operator settings (default: the one next to the operator's file)",
] as const;

/** The option of commands that apply CustomResourceDefinitions. */
export const ALLOW_BREAKING = [
  "--allow-breaking",
  "apply CustomResourceDefinitions even if stored objects lose fields or become invalid",
] as const;

/** The option that names the namespaces of an operator, for commands that check it. */
export const WATCHED_NAMESPACES = [
  "-n, --namespace <names...>",
  "namespaces that the operator watches (default: all)",
] as const;

/** The option that limits an operator to namespaces. Its RBAC permissions are not affected. */
export const NAMESPACES = ["-n, --namespace <names...>", "watch only these namespaces (default: all)"] as const;

/** The option that takes over the objects of another operator. */
export const ADOPT = ["--adopt", "take over objects that belong to another operator of the same name"] as const;

/** The option for the file that a command writes. */
export const OUTPUT_FILE = ["-o, --output <file>", "file to write (default: standard output)"] as const;

/** The option to overwrite that file. */
export const FORCE_OUTPUT = ["--force", "overwrite the output file"] as const;

/** Returns the option for the output format. */
export function formOption() {
  return new Option("-o, --output <format>", "output format").choices(FORMS).default("text" as const);
}

/** Adds the options that select a cluster. */
export function withCluster<Args extends unknown[], Options extends OptionValues>(command: Command<Args, Options>) {
  return command
    .option("--kubeconfig <file>", "kubeconfig file (default: KUBECONFIG, otherwise ~/.kube/config)")
    .option("--context <name>", "context of the kubeconfig (default: its current context)");
}

/** Adds the options that configure the installation of an operator, including its image. */
export function withInstallation<Args extends unknown[], Options extends OptionValues>(
  command: Command<Args, Options>,
) {
  return withPlace(command)
    .option("--image <image>", "container image of the operator (default: NAME:VERSION)", image);
}

/** Adds the options for the namespaces of an installation, for commands that need no image. */
export function withPlace<Args extends unknown[], Options extends OptionValues>(command: Command<Args, Options>) {
  return command
    .option(...CONFIG)
    .option("--into <namespace>", "namespace of the operator's Deployment (default: NAME-system)", namespace)
    .option(
      "-n, --namespace <names...>",
      "namespaces that the operator watches, and to which its RBAC permissions are limited (default: all)",
      (name: string, earlier: readonly string[] = []) => [...earlier, namespace(name)],
    )
    .addOption(
      new Option("--certificates <source>", "source of the webhook certificate (default: self)")
        .choices(["self", "cert-manager", "files"] as const),
    );
}

/** Returns the part of a help text that shows examples. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}\n`).join("")}`.trimEnd();
}

/** Returns a command's options with the options of `op` itself. */
export function withGlobals<T>(options: T, command: { optsWithGlobals(): OptionValues }): T & GlobalOptions {
  return { ...options, ...command.optsWithGlobals() };
}

function namespace(name: string): string {
  if (/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) return name;
  throw new InvalidArgumentError("Use 1 to 63 lowercase letters, digits and dashes.");
}

function image(name: string): string {
  if (/^\S+$/.test(name)) return name;
  throw new InvalidArgumentError('Write it as "registry/name:tag".');
}
