/** `op crd docs`: a reference page of kinds. */
import { runningDeno, sourceFile } from "../deno.ts";
import { Failure } from "../exit_code.ts";
import { checkDefinition, type Definition, definitionsIn } from "../definitions/definition.ts";
import { definitionsOfFile } from "../definitions/source.ts";
import { inspect } from "../inspect.ts";
import type { Io } from "../io.ts";
import { checkOutput, type OutputOptions, writeOutput } from "../output.ts";
import { pageOf } from "./page.ts";

/** What has an operator in it; everything else has definitions. */
const PROGRAM = /\.[cm]?[jt]sx?$/;

/**
 * Writes a reference page of the kinds in a file, as Markdown.
 *
 * @param file A file whose default export is an operator, one with CustomResourceDefinitions as YAML or JSON, or `-` for standard input.
 * @param options Where the page goes.
 * @param io The terminal and the shell.
 * @param stdin What standard input holds.
 * @throws {UsageError} If there is something to force and no file to write.
 * @throws {Failure} If there is no kind in the file, or the page cannot be written. The output is then as it was before.
 */
export async function crdDocs(
  file: string,
  options: OutputOptions,
  io: Io,
  stdin?: () => Promise<string>,
): Promise<void> {
  await checkOutput(options, io);
  const definitions = await definitionsOf(file, io, stdin);
  await writeOutput(pageOf(definitions.map(checkDefinition)), options, io);
}

async function definitionsOf(file: string, io: Io, stdin?: () => Promise<string>): Promise<Definition[]> {
  if (!PROGRAM.test(file)) return await definitionsOfFile(file, io, stdin);
  const source = await sourceFile(file, io);
  const { crds } = await inspect(runningDeno(), source.url, source.folder, file);
  if (crds.length > 0) return definitionsIn(crds);
  throw new Failure(`Cannot document "${file}": its operator has no kinds of its own`);
}
