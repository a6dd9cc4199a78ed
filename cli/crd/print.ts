/** `op crd print`: prints the CustomResourceDefinitions of an operator. */
import { factsOf, NO_IMAGE } from "../generate/generate.ts";
import type { Io } from "../io.ts";
import type { ProjectOptions } from "../project_file.ts";
import { toYaml } from "../yaml.ts";
import { warnOfDefinitions } from "./definition_warnings.ts";

/**
 * Prints the CustomResourceDefinitions of an operator as YAML documents for `kubectl apply -f -`.
 * Warnings go to standard error, one line each.
 *
 * @param file The file whose default export is the operator.
 * @param options The settings file. Its namespace is used in definitions with a conversion webhook.
 * @param io The terminal and the shell.
 * @throws {Failure} If the file has no operator.
 */
export async function crdPrint(file: string, options: ProjectOptions, io: Io): Promise<void> {
  const facts = await factsOf(file, { config: options.config, image: NO_IMAGE }, io);
  io.out(facts.manifests.crd.map((crd) => `---\n${toYaml(crd)}`).join(""));
  warnOfDefinitions(facts.manifests.crd, io);
}
