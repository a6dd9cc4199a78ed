/** The definitions that a command is given: in an operator's file, in YAML or JSON. */
import { runningDeno, sourceFile } from "../deno.ts";
import { Failure } from "../exit_code.ts";
import { checkDefinition, type Definition, definitionsIn } from "../definitions/definition.ts";
import { definitionsOfFile } from "../definitions/source.ts";
import { inspect } from "../inspect.ts";
import type { Io } from "../io.ts";

/** What has an operator in it; everything else has definitions. */
const PROGRAM = /\.[cm]?[jt]sx?$/;

/**
 * The definitions in a file.
 *
 * @param file A file whose default export is an operator, one with CustomResourceDefinitions as YAML or JSON, or `-` for standard input.
 * @param action What they are for, as errors say it: `document`.
 * @param io The terminal and the shell.
 * @param stdin What standard input holds.
 * @throws {Failure} If there is no kind in the file.
 */
export async function definitionsOf(
  file: string,
  action: string,
  io: Io,
  stdin?: () => Promise<string>,
): Promise<Definition[]> {
  if (!PROGRAM.test(file)) return (await definitionsOfFile(file, io, stdin)).map(checkDefinition);
  const source = await sourceFile(file, io);
  const { crds } = await inspect(runningDeno(), source.url, source.folder, file);
  if (crds.length > 0) return definitionsIn(crds).map(checkDefinition);
  throw new Failure(`Cannot ${action} "${file}": its operator has no kinds of its own`);
}
