/** `op rbac generate`: the service account of an operator and its roles. */
import { factsOf, type PlaceOptions } from "../generate/generate.ts";
import { documents } from "../generate/layout.ts";
import type { Io } from "../io.ts";
import { checkOutput, type OutputOptions, writeOutput } from "../output.ts";

/** Options for {@linkcode generateRbac}. */
export interface GenerateRbacOptions extends PlaceOptions, OutputOptions {}

/**
 * Prints service account, roles and bindings as YAML; above each rule stands what it is for.
 *
 * @param file The file whose default export is the operator.
 * @param options Where it is installed, and where the YAML goes.
 * @param io The terminal and the shell.
 */
export async function generateRbac(file: string, options: GenerateRbacOptions, io: Io): Promise<void> {
  await checkOutput(options, io);
  const facts = await factsOf(file, options, io);
  await writeOutput(documents(facts.manifests.rbac, facts.rights), options, io);
}
