/** `op crd docs`: a reference page of kinds. */
import type { Io } from "../io.ts";
import { checkOutput, type OutputOptions, writeOutput } from "../output.ts";
import type { ProjectOptions } from "../project_file.ts";
import { definitionsOf } from "./definitions_of.ts";
import { pageOf } from "./page.ts";

/**
 * Writes a reference page of the kinds in a file, as Markdown.
 *
 * @param file A file whose default export is an operator, one with CustomResourceDefinitions as
 * YAML or JSON, or `-` for standard input.
 * @param options Where the page goes.
 * @param io The terminal and the shell.
 * @param stdin What standard input holds.
 * @throws {UsageError} If there is something to force and no file to write.
 * @throws {Failure} If there is no kind in the file, or the page cannot be written. The output is
 * then as it was before.
 */
export async function crdDocs(
  file: string,
  options: OutputOptions & ProjectOptions,
  io: Io,
  stdin?: () => Promise<string>,
): Promise<void> {
  await checkOutput(options, io);
  await writeOutput(pageOf(await definitionsOf(file, "document", { config: options.config, stdin }, io)), options, io);
}
