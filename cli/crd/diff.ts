/**
 * `op crd diff`: shows how changes of CustomResourceDefinitions affect existing objects and
 * clients.
 */
import { Failure, UsageError } from "../exit_code.ts";
import { counted } from "../plural.ts";
import type { Form } from "../global_options.ts";
import type { Io } from "../io.ts";
import type { ProjectOptions } from "../project_file.ts";
import type { Definition } from "../definitions/definition.ts";
import { type DefinitionChange, definitionChanges } from "./definition_changes.ts";
import { type DeclaredDefinitions, declaredIn } from "./definitions_of.ts";
import { printed } from "../yaml.ts";

/** Options for {@linkcode crdDiff}. */
export interface CrdDiffOptions extends ProjectOptions {
  readonly output: Form;
}

/**
 * Prints the differences between two sets of definitions, one per line.
 *
 * @param before The installed definitions: an operator's file, YAML or JSON, or `-` for standard
 *   input.
 * @param after The new definitions, in the same forms.
 * @param options The output format and the settings file.
 * @param io The terminal and the shell.
 * @throws {Failure} If a change is breaking.
 */
export async function crdDiff(before: string, after: string, options: CrdDiffOptions, io: Io): Promise<void> {
  if (before === "-" && after === "-") {
    throw new UsageError("Cannot compare: only one of the two may be standard input.");
  }
  const [was, is] = [await declaredIn(before, options, io), await declaredIn(after, options, io)];
  const changes = definitionChanges(comparable(before, was, is), comparable(after, is, was));
  const breaking = changes.filter(({ severity }) => severity === "breaking");
  if (options.output !== "text") {
    io.out(printed({ verdict: breaking.length > 0 ? "breaking" : "compatible", changes }, options.output));
  } else {
    io.out(changes.map(line).join(""));
    if (breaking.length === 0) {
      io.out(changes.length === 0 ? "No changes\n" : "No breaking changes\n");
    }
  }
  if (breaking.length === 0) return;
  throw new Failure(
    `${breaking.length} of ${
      counted(changes.length, "change is", "changes are")
    } breaking. Put them into a new version of the kind, and keep serving the old version.`,
  );
}

/**
 * Returns the definitions of one side to compare: its own kinds, and those external kinds that the
 * other side also has.
 */
function comparable(file: string, side: DeclaredDefinitions, other: DeclaredDefinitions): readonly Definition[] {
  const others = new Set([...other.own, ...other.external].map(({ metadata }) => metadata.name));
  const definitions = [...side.own, ...side.external.filter(({ metadata }) => others.has(metadata.name))];
  if (definitions.length > 0) return definitions;
  throw new Failure(
    side.external.length === 0
      ? `Cannot compare "${file}": the operator has no kinds of its own.`
      : `Cannot compare "${file}": all kinds of the operator are external, and the other file has none of them.`,
  );
}

function line({ severity, kind, version, path, message }: DefinitionChange): string {
  const location = [kind, version, path].filter((part) => part !== undefined && part !== "").join(" ");
  return `${severity.padEnd(10)} ${location}: ${message}\n`;
}
