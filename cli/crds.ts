/** `op crds`: the CustomResourceDefinitions of an operator. */
import { stringify } from "yaml";
import type { CustomResourceDefinitionManifest } from "@op/sdk";
import { definitionWarnings } from "@op/sdk/validation";
import { runningDeno, sourceFile } from "./deno.ts";
import { inspect } from "./inspect.ts";
import type { Io } from "./io.ts";

/**
 * Prints the CustomResourceDefinitions of an operator as YAML, one document each, as `kubectl apply -f -` takes them. What is doubtful in them
 * goes to standard error, a line each.
 *
 * @param file The file whose default export is the operator.
 * @param io The terminal and the shell.
 * @throws {Failure} If there is no operator in the file.
 */
export async function crds(file: string, io: Io): Promise<void> {
  const source = await sourceFile(file, io);
  const facts = await inspect(runningDeno(), source.url, source.folder, file);
  io.out(facts.manifests.crd.map((crd) => `---\n${stringify(crd, { lineWidth: 0 })}`).join(""));
  for (const crd of facts.manifests.crd) {
    for (const warning of definitionWarnings(crd as CustomResourceDefinitionManifest)) {
      io.err(`Warning: ${warning}\n`);
    }
  }
}
