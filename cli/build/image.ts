/** Builds the container image of an operator, with the builder that the project names. */
import { run } from "../deno.ts";
import { Failure } from "../exit_code.ts";
import type { OperatorFacts } from "../inspect.ts";
import type { Io } from "../io.ts";
import { step } from "../progress.ts";

/** The default builder. */
const BINARY = "docker";
const ARGS: readonly string[] = ["build", "--tag", "$IMG", "."];

/**
 * Builds the image that the operator's Deployment names. The output of the builder goes to standard
 * error.
 *
 * The image's name replaces `$IMG` in the builder's arguments, and is the variable `IMG` of its
 * environment.
 *
 * @param facts The operator's declarations.
 * @param folder The folder of the project, in which the builder runs.
 * @param io The terminal and the shell.
 * @throws {Failure} If the builder does not exist, or fails.
 */
export async function buildImage(
  { builder, manifests }: Pick<OperatorFacts, "builder" | "manifests">,
  folder: string,
  io: Io,
): Promise<void> {
  const image = imageIn(manifests);
  const { binary = BINARY, args = ARGS } = builder;
  const builderArgs = args.map((arg) => arg.replaceAll("$IMG", image));
  step(`Building image ${image} with ${binary}`, io);
  const { success, stdout, stderr } = await run(binary, builderArgs, { cwd: folder, env: { IMG: image } })
    .catch((cause: Error) => {
      throw new Failure(
        `${cause.message} Name the image builder in operator.toml: [build.builder] binary = "podman", args = [...]`,
        { cause },
      );
    });
  io.err(stdout);
  io.err(stderr);
  if (!success) throw new Failure(`Cannot build image "${image}": "${[binary, ...builderArgs].join(" ")}" failed.`);
  io.out(`\nBuilt image ${image}\n`);
}

/** Returns the image of the Deployment, so that the cluster runs the image that is built. */
function imageIn({ manager }: OperatorFacts["manifests"]): string {
  const deployment = manager.find(({ kind }) => kind === "Deployment") as unknown as {
    readonly spec: {
      readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } };
    };
  };
  const [container] = deployment.spec.template.spec.containers;
  if (container === undefined) throw new Failure("Cannot name the image: the operator's Deployment has no container.");
  return container.image;
}
