/** `op crd docs`: writes a reference page of kinds. */
import type { Io } from "../io.ts";
import { checkOutput, type OutputOptions, writeOutput } from "../output.ts";
import type { ProjectOptions } from "../project_file.ts";
import { definitionsOf } from "./definitions_of.ts";
import { pageOf } from "./page.ts";

/**
 * Writes a reference page of the kinds in a file, as Markdown.
 *
 * @param file A file whose default export is an operator, one with CustomResourceDefinitions as
 *   YAML or JSON, or `-` for standard input.
 * @param options The output and the settings file.
 * @param io The terminal and the shell.
 * @param stdin Reads standard input.
 * @throws {UsageError} If `force` is set without an output file.
 * @throws {Failure} If the file has no kind, or the page cannot be written. The output is unchanged
 *   then.
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
