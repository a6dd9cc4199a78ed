/** The command line of `op generate`. */
import { Command } from "@commander-js/extra-typings";
import { examples, OPERATOR_FILE, withInstallation } from "../command_options.ts";
import type { Io } from "../io.ts";

/** The parts of the manifests that can be generated, with their descriptions. */
const PARTS = [
  ["manifests", "all files: definitions, RBAC, Deployment, samples and a kustomize base"],
  ["crd", "the CustomResourceDefinitions and a sample of each kind"],
  ["rbac", "the ServiceAccount, roles and bindings"],
  ["webhooks", "the webhook configurations"],
  ["deployment", "the Deployment, its settings, its PodDisruptionBudget and its monitoring"],
] as const;

const DIR = ["--dir <folder>", "folder of the files", "config"] as const;

/** Returns the command `op generate` with its subcommands. */
export function generateCommand(io: Io) {
  const generate = new Command("generate").description("Generate an operator's manifests as files for kustomize");
  for (const [part, content] of PARTS) {
    generate.addCommand(
      withInstallation(
        new Command(part).description(`Generate ${content}`).argument("[file]", OPERATOR_FILE, "main.ts"),
      )
        .option(...DIR)
        .option("--check", "write no file; exit with 1 if a file differs from what would be generated")
        .option("--force", "overwrite files that were edited by hand")
        .addHelpText("after", examples(`op generate ${part}`, `op generate ${part} --check`))
        .action(async (file, options) => (await import("./generate.ts")).generate(part, file, options, io)),
    );
  }
  return generate.addCommand(
    withInstallation(new Command("overlay").description("Generate an overlay: the settings of one cluster"))
      .argument("<name>", 'name such as prod; "local" is for minikube, kind and k3d, "split" runs webhooks separately')
      .argument("[file]", OPERATOR_FILE, "main.ts")
      .option(...DIR)
      .option("--force", "overwrite an existing overlay")
      .addHelpText("after", examples("op generate overlay staging", "op generate overlay split"))
      .action(async (name, file, options) => (await import("./generate.ts")).generateOverlay(name, file, options, io)),
  );
}
