/** The deno.json of a project. */
import { VERSION } from "../version.ts";

/** Options for {@linkcode projectConfig}. */
export interface ProjectConfigOptions {
  /** Folder of an SDK to use instead of the published one, as it is to stand in the file. */
  readonly sdk?: string | undefined;
}

/**
 * The deno.json of an operator's project.
 *
 * A local SDK comes in by `links`: its modules keep their own import map, on Deno 2.4 as well. The
 * command line is run by path then, since Deno 2.4 does not look through `links` for what `deno
 * run` is given.
 *
 * @param name The operator's name.
 * @param options Additional options.
 * @returns The file's text.
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
        description: "Run the operator here, against the cluster of your kubeconfig",
        command: "deno run --allow-all main.ts start",
      },
      generate: {
        description: "Make the manifests in config/ anew, after the declarations changed",
        command: "deno task op generate manifests",
      },
      compile: { description: "Make one executable", command: `deno task op build --output dist/${name}` },
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
