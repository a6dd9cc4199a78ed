/** `op crd diff`: what a new definition of kinds does to those who use them. */
import { Failure, UsageError } from "../exit_code.ts";
import { type Form, printed } from "../global_options.ts";
import type { Io } from "../io.ts";
import type { ProjectOptions } from "../project_file.ts";
import { type DefinitionChange, definitionChanges } from "./definition_changes.ts";
import { definitionsOf } from "./definitions_of.ts";

/** Options for {@linkcode crdDiff}. */
export interface CrdDiffOptions extends ProjectOptions {
  readonly output: Form;
}

/**
 * Prints the differences of two sets of definitions, a line each, and the verdict.
 *
 * @param before The definitions that are installed: an operator's file, YAML or JSON, or `-` for standard input.
 * @param after The definitions that are to be, likewise.
 * @param options How to print them.
 * @param io The terminal and the shell.
 * @throws {Failure} If a change is breaking.
 */
export async function crdDiff(before: string, after: string, options: CrdDiffOptions, io: Io): Promise<void> {
  if (before === "-" && after === "-") {
    throw new UsageError("Cannot compare: standard input can be only one of the two");
  }
  const was = await definitionsOf(before, "compare", options, io);
  const changes = definitionChanges(was, await definitionsOf(after, "compare", options, io));
  const breaking = changes.filter(({ severity }) => severity === "breaking");
  if (options.output !== "text") {
    io.out(printed({ verdict: breaking.length > 0 ? "breaking" : "compatible", changes }, options.output));
  } else {
    io.out(changes.map(line).join(""));
    if (breaking.length === 0) {
      io.out(changes.length === 0 ? "No change\n" : "Nothing that was good before is refused\n");
    }
  }
  if (breaking.length === 0) return;
  throw new Failure(
    `${breaking.length} of ${changes.length} changes are breaking: make them in a new version of the kind, and keep serving the old one`,
  );
}

function line({ severity, kind, version, path, told }: DefinitionChange): string {
  const place = [kind, version, path].filter((part) => part !== undefined && part !== "").join(" ");
  return `${severity.padEnd(10)} ${place}: ${told}\n`;
}
