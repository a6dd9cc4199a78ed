/** `op new` alone: asks what is to be made, where there is somebody to ask; else it makes what the template is. */
import { UsageError } from "../exit_code.ts";
import type { Io } from "../io.ts";
import { kindNames } from "./kind_names.ts";
import { checkName } from "./name.ts";
import { newOperator, type NewOperatorOptions } from "./operator.ts";

/** What is made where nobody is asked. */
const PRESET = { name: "website-operator", kind: "Website", group: "demo.example.com", apiVersion: "v1" } as const;

/**
 * Makes an operator with a first controller.
 *
 * @param options Where to, and with which SDK.
 * @param io The terminal and the shell.
 * @throws {UsageError} If the person who was asked gives up.
 */
export async function newAnything(options: Pick<NewOperatorOptions, "dir" | "sdk">, io: Io): Promise<void> {
  const isAsked = io.ask !== undefined && io.isTerminal?.("in") === true && io.isTerminal("out");
  const { name, ...kind } = isAsked ? answers(io) : PRESET;
  await newOperator(name, { ...options, ...kind }, io);
}

function answers(io: Io): typeof PRESET | Record<keyof typeof PRESET, string> {
  io.out("An operator needs a name, and a first kind of objects that it looks after.\n\n");
  const name = answer(io, "Name of the operator:", PRESET.name, checkName);
  const group = answer(io, "API group, a domain of yours:", PRESET.group, (group) => {
    kindNames({ ...PRESET, group });
  });
  const kind = answer(io, "Kind, in CamelCase:", PRESET.kind, (kind) => {
    kindNames({ ...PRESET, group, kind });
  });
  const apiVersion = answer(io, "Its version:", PRESET.apiVersion, (apiVersion) => {
    kindNames({ group, kind, apiVersion });
  });
  io.out("\n");
  return { name, group, kind, apiVersion };
}

/** Asks until the answer can be. */
function answer(io: Io, question: string, preset: string, check: (answer: string) => void): string {
  while (true) {
    const said = io.ask?.(question, preset)?.trim();
    if (said === undefined) {
      throw new UsageError(
        'Cannot go on without an answer; nothing was made. Say it all at once: "op new operator --help"',
      );
    }
    try {
      check(said);
      return said;
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      io.out(`${error.message}\n`);
    }
  }
}
