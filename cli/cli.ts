/**
 * The program `op`: it parses arguments, runs a command, and turns the result into an exit code.
 */
import { Command, CommanderError, type CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import { apiserverCommand } from "./apiserver/command.ts";
import { buildCommand } from "./build/command.ts";
import { completionsCommand } from "./completions.ts";
import { crdCommand } from "./crd/command.ts";
import { deployCommand, uninstallCommand } from "./deploy/command.ts";
import { doctorCommand } from "./doctor/command.ts";
import { EXIT, silentExitCode, UsageError } from "./exit_code.ts";
import { generateCommand } from "./generate/command.ts";
import type { Io } from "./io.ts";
import { newCommand } from "./new/command.ts";
import { rbacCommand } from "./rbac/command.ts";
import { devCommand, pauseCommand, planCommand, resumeCommand, startCommand } from "./run/command.ts";
import { sandboxCommand } from "./sandbox/command.ts";
import { printingSafely } from "./terminal.ts";
import { traceCommand } from "./trace/command.ts";
import { VERSION } from "./version.ts";
import { versionCommand } from "./version_command.ts";

/**
 * The commands, in the order of the help text. Each function declares one command, and imports its
 * implementation only when the command runs, because most implementations load the SDK.
 */
const COMMANDS: readonly ((io: Io) => CommandUnknownOpts)[] = [
  newCommand,
  buildCommand,
  traceCommand,
  generateCommand,
  crdCommand,
  rbacCommand,
  sandboxCommand,
  startCommand,
  devCommand,
  planCommand,
  pauseCommand,
  resumeCommand,
  doctorCommand,
  deployCommand,
  uninstallCommand,
  apiserverCommand,
  completionsCommand,
  versionCommand,
];

/**
 * Runs `op`. It never exits the process.
 *
 * @param args The arguments after `op`.
 * @param terminal The terminal and the shell.
 * @returns The exit code: 0 on success, 1 on failure, 2 if the command line is wrong.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * let output = "";
 * const out = (text: string) => void (output += text);
 * const io = { out, err: () => {}, cwd: "/", env: () => undefined };
 * assert.equal(await cli(["--version"], io), 0);
 * assert.match(output, /^op \d+\.\d+\.\d+/);
 * ```
 */
export async function cli(args: readonly string[], terminal: Io): Promise<number> {
  const io = printingSafely(terminal);
  try {
    const op = program(io);
    await op.parseAsync(withHelp(op, args), { from: "user" });
    return EXIT.done;
  } catch (error) {
    // Commander has printed the error or the help text.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    const code = silentExitCode(error);
    if (code !== undefined) return code;
    io.err(`${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof UsageError ? EXIT.usage : EXIT.failed;
  }
}

/**
 * Returns the program with all commands.
 *
 * @param io The terminal and the shell.
 */
export function program(io: Io): CommandUnknownOpts {
  const op = new Command("op")
    .description("Create, build, run and deploy Kubernetes operators in TypeScript.")
    .version(`op ${VERSION}`, "-V, --version", "print the version")
    .option("-c, --config <file>", "settings file (default: operator.toml next to the operator's file)")
    .addOption(new Option("-l, --log-level <level>", "log level of the operators that op starts").choices(LEVELS))
    .option("--no-color", "disable colors, like NO_COLOR=1")
    // Options of op itself may be before or after the name of a command.
    .hook("preAction", (op, command) => {
      for (const [name, value] of Object.entries(op.opts())) command.setOptionValue(name, value);
    })
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "Print the help of a command")
    .addHelpText("after", "\nExit codes: 0 success, 1 failure, 2 wrong command line.")
    .exitOverride()
    .configureOutput({
      writeOut: io.out,
      writeErr: io.err,
      getOutHelpWidth: () => HELP_WIDTH,
      getErrHelpWidth: () => HELP_WIDTH,
    });
  for (const command of COMMANDS) {
    const subcommand = command(io);
    op.addCommand(subcommand);
    inheritSettings(subcommand, op);
  }
  pointToHelp(op, "op");
  return op;
}

/** Copies the settings of `op`, such as its output, to a command and its subcommands. */
function inheritSettings(command: CommandUnknownOpts, parent: CommandUnknownOpts): void {
  command.copyInheritedSettings(parent);
  for (const subcommand of command.commands) inheritSettings(subcommand, command);
}

/**
 * Returns `op new operator --help` for `op help new operator`: commander's own `help` command knows
 * only one level of commands.
 */
function withHelp(op: CommandUnknownOpts, args: readonly string[]): string[] {
  const [first, ...names] = args;
  if (first !== "help" || names.length < 2 || names.some((name) => name.startsWith("-"))) return [...args];
  let command = op;
  for (const [index, name] of names.entries()) {
    // A command without subcommands: the remaining words are its arguments.
    if (command.commands.length === 0) return [...names.slice(0, index), "--help"];
    const next = command.commands.find((one) => one.name() === name);
    // The parent reports an unknown subcommand and suggests a similar one.
    if (next === undefined) return names;
    command = next;
  }
  return [...names, "--help"];
}

/**
 * Makes errors about options point to the help of the command, and reports all missing options at
 * once. If a required option is mistyped, commander would report only that it is missing.
 */
function pointToHelp(command: CommandUnknownOpts, path: string): void {
  const hint = `(run "${path} --help" for its options)`;
  command.showHelpAfterError(hint);
  const required = command.options.filter(({ mandatory }) => mandatory);
  for (const option of required) option.mandatory = false;
  if (required.length > 0) {
    command.hook("preAction", () => {
      const missing = required.filter((option) => command.getOptionValue(option.attributeName()) === undefined);
      if (missing.length === 0) return;
      const flags = missing.map(({ flags }) => flags).join(", ");
      throw new UsageError(`Cannot run "${path}": required options are missing. Add ${flags}.\n${hint}`);
    });
  }
  for (const subcommand of command.commands) pointToHelp(subcommand, `${path} ${subcommand.name()}`);
}

const LEVELS = ["debug", "info", "warn", "error"] as const;

/** The width of help texts, which does not depend on the terminal, so that golden files match. */
const HELP_WIDTH = 100;
