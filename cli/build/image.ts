/** The image of an operator, by whatever builder the project names. */
import { run } from "../deno.ts";
import { Failure } from "../exit_code.ts";
import type { OperatorFacts } from "../inspect.ts";
import type { Io } from "../io.ts";
import { step } from "../progress.ts";

/** What builds where `operator.toml` says nothing. */
const BINARY = "docker";
const ARGS: readonly string[] = ["build", "--tag", "$IMG", "."];

/**
 * Builds the image that the operator's Deployment names. What the builder says goes to standard error: standard output is for programs.
 *
 * The builder gets the image's name in the place of `$IMG` in its arguments, and in its environment.
 *
 * @param facts The operator's own account.
 * @param folder The folder of the project: the builder runs there.
 * @param io The terminal and the shell.
 * @throws {Failure} If there is no such builder, or it fails.
 */
export async function buildImage(
  { builder, manifests }: Pick<OperatorFacts, "builder" | "manifests">,
  folder: string,
  io: Io,
): Promise<void> {
  const image = imageIn(manifests);
  const { binary = BINARY, args = ARGS } = builder;
  const said = args.map((arg) => arg.replaceAll("$IMG", image));
  step(`Building the image ${image} by ${binary}`, io);
  const { success, stdout, stderr } = await run(binary, said, { cwd: folder, env: { IMG: image } })
    .catch((cause: Error) => {
      throw new Failure(
        `${cause.message}; say who builds images in operator.toml: [build.builder] binary = "podman", args = [...]`,
        { cause },
      );
    });
  io.err(stdout);
  io.err(stderr);
  if (!success) throw new Failure(`Cannot build the image "${image}": "${[binary, ...said].join(" ")}" failed`);
  io.out(`\nMade image ${image}\n`);
}

/** What the cluster will be told to run is what is built. */
function imageIn({ manager }: OperatorFacts["manifests"]): string {
  const deployment = manager.find(({ kind }) => kind === "Deployment") as unknown as {
    readonly spec: {
      readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } };
    };
  };
  const [container] = deployment.spec.template.spec.containers;
  if (container === undefined) throw new Failure("Cannot tell the image: the Deployment has no container");
  return container.image;
}
