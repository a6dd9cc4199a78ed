/** Generates the deno.json of a project. */
import { VERSION } from "../version.ts";

/** Options for {@linkcode projectConfig}. */
export interface ProjectConfigOptions {
  /** The folder of an SDK to use instead of the published package, as written in the file. */
  readonly sdk?: string | undefined;
}

/**
 * Returns the deno.json of a project.
 *
 * A local SDK is added with `links`, so that its modules keep their own import map, also with Deno
 * 2.4. The `op` task runs the command line by its path in that case, because Deno 2.4 does not
 * resolve the argument of `deno run` with `links`.
 *
 * @param name The operator's name.
 * @param options Additional options.
 * @returns The content of the file.
 */
export function projectConfig(name: string, options: ProjectConfigOptions = {}): string {
  const { sdk } = options;
  const sdkPackage = `jsr:@op/sdk@^${VERSION}`;
  const op = sdk === undefined ? `jsr:@op/cli@^${VERSION}` : JSON.stringify(`${sdk.replace(/\/$/, "")}/cli/main.ts`);
  const config = {
    tasks: {
      check: { description: "Check the types", command: "deno check ." },
      lint: { description: "Check the style", command: "deno fmt --check && deno lint" },
      test: { description: "Run the tests", command: "deno test --allow-all" },
      start: {
        description: "Run the operator on this machine, against the cluster of your kubeconfig",
        command: "deno run --allow-all main.ts start",
      },
      generate: {
        description: "Update the manifests in config/ after a change of the declarations",
        command: "deno task op generate manifests",
      },
      compile: { description: "Compile one executable", command: `deno task op build --output dist/${name}` },
      op: { description: "The command line of the SDK", command: `deno run --allow-all ${op}` },
    },
    imports: { "@op/sdk": sdkPackage },
    ...(sdk === undefined ? {} : { links: [sdk] }),
    compilerOptions: { exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, strict: true },
    exclude: ["dist"],
    fmt: { lineWidth: 120 },
  };
  return JSON.stringify(config, null, 2) + "\n";
}
