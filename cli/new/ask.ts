/**
 * `op new` without a subcommand: it asks for names on a terminal, and uses those of the template
 * elsewhere.
 */
import { byNearness } from "../internal/mod.gen.ts";
import { UsageError } from "../exit_code.ts";
import { exists } from "./atomic_folder.ts";
import type { Io } from "../io.ts";
import { kindNames } from "./kind_names.ts";
import { checkName } from "./name.ts";
import { newOperator, type NewOperatorOptions } from "./operator.ts";

const PROJECT_FILE = "operator.toml";

/** The names of the template. */
const PRESET = { name: "website-operator", kind: "Website", group: "demo.example.com", apiVersion: "v1" } as const;

/**
 * Creates a project with one kind and its controller.
 *
 * @param options The folder to create, and the SDK to use.
 * @param io The terminal and the shell.
 * @throws {UsageError} If the folder has a project, or the user ends the input before all questions
 *   are answered.
 */
export async function newProject(options: Pick<NewOperatorOptions, "dir" | "sdk">, io: Io): Promise<void> {
  if (options.dir === undefined && await exists(`${io.cwd}/${PROJECT_FILE}`)) {
    throw new UsageError(
      `Cannot create a project: this folder has one ("${PROJECT_FILE}"). Add to it with op new controller, ` +
        `op new webhook or op new version, or name another folder with --dir.`,
    );
  }
  const isInteractive = io.ask !== undefined && io.isTerminal?.("in") === true && io.isTerminal("out");
  const { name, ...kind } = isInteractive ? answers(io) : PRESET;
  await newOperator(name, { ...options, ...kind }, io);
}

/**
 * Returns the error for a mistyped subcommand of `op new`, worded like commander's own.
 *
 * @param name The subcommand that was typed.
 * @param names The subcommands that exist.
 */
export function unknownSubcommand(name: string, names: readonly string[]): string {
  return `error: unknown command '${name}'\n(Did you mean ${byNearness(name, names)[0]}?)`;
}

function answers(io: Io): typeof PRESET | Record<keyof typeof PRESET, string> {
  io.out("An operator needs a name and a first kind of objects to manage.\n\n");
  const name = answer(io, "Name of the operator:", PRESET.name, checkName);
  const group = answer(io, "API group, a domain that you own:", PRESET.group, (group) => {
    kindNames({ ...PRESET, group });
  });
  const kind = answer(io, "Kind, in CamelCase:", PRESET.kind, (kind) => {
    kindNames({ ...PRESET, group, kind });
  });
  const apiVersion = answer(io, "Version of the kind:", PRESET.apiVersion, (apiVersion) => {
    kindNames({ group, kind, apiVersion });
  });
  io.out("\n");
  return { name, group, kind, apiVersion };
}

/** Repeats a question until the answer is valid. */
function answer(io: Io, question: string, preset: string, check: (answer: string) => void): string {
  while (true) {
    const reply = io.ask?.(question, preset)?.trim();
    if (reply === undefined) {
      throw new UsageError(
        'Cannot create a project: the input ended before all questions were answered. Use options instead: "op new operator --help".',
      );
    }
    try {
      check(reply);
      return reply;
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      io.out(`${error.message}\n`);
    }
  }
}
