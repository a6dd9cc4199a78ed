/** `op rbac generate`: prints the ServiceAccount, roles and bindings of an operator. */
import { factsOf, type PlaceOptions } from "../generate/generate.ts";
import { documents } from "../generate/layout.ts";
import type { Io } from "../io.ts";
import { checkOutput, type OutputOptions, writeOutput } from "../output.ts";

/** Options for {@linkcode generateRbac}. */
export interface GenerateRbacOptions extends PlaceOptions, OutputOptions {}

/**
 * Prints the ServiceAccount, roles and bindings as YAML. A comment above each rule has the reason
 * for it.
 *
 * @param file The file whose default export is the operator.
 * @param options How the operator is installed, and the output file.
 * @param io The terminal and the shell.
 */
export async function generateRbac(file: string, options: GenerateRbacOptions, io: Io): Promise<void> {
  await checkOutput(options, io);
  const facts = await factsOf(file, options, io);
  await writeOutput(documents(facts.manifests.rbac, facts.rbac), options, io);
}
