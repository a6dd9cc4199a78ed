/** `op crds`: the CustomResourceDefinitions of an operator. */
import { warnOfDefinitions } from "./crd/definition_warnings.ts";
import { factsOf, NO_IMAGE } from "./generate/generate.ts";
import type { Io } from "./io.ts";
import type { ProjectOptions } from "./project_file.ts";
import { toYaml } from "./yaml.ts";

/**
 * Prints the CustomResourceDefinitions of an operator as YAML, one document each, as `kubectl apply -f -` takes them. What is doubtful in them
 * goes to standard error, a line each.
 *
 * @param file The file whose default export is the operator.
 * @param options Its settings: where it is installed stands in definitions whose versions it converts.
 * @param io The terminal and the shell.
 * @throws {Failure} If there is no operator in the file.
 */
export async function crds(file: string, options: ProjectOptions, io: Io): Promise<void> {
  const facts = await factsOf(file, { config: options.config, image: NO_IMAGE }, io);
  io.out(facts.manifests.crd.map((crd) => `---\n${toYaml(crd)}`).join(""));
  warnOfDefinitions(facts.manifests.crd, io);
}
