/**
 * Loads an operator in a child process and returns its declarations. The file has its own import
 * map and may run any code while it is loaded.
 */
import { pathToFileURL } from "node:url";
import type { InstallOptions, ManifestGroups, RbacRule, Sample, SandboxRule } from "@op/sdk/operator";
import type { CustomResourceDefinitionManifest } from "@op/sdk/resource";
import { Failure, throwIfInterrupted } from "./exit_code.ts";
import { denoErrors, runningDeno } from "./deno.ts";
import type { Io } from "./io.ts";
import { REVIEW_SAMPLES, type SampleRejection } from "./generate/sample_review.ts";
import { type KeptAlive, keptAliveText, RECORD_KEPT_ALIVE } from "./kept_alive.ts";
import { bundleFailure, type LoadError, loading, unfinishedLoad } from "./loading.ts";
import { withProject } from "./project.ts";
import type { ProjectFile } from "./project_file.ts";

/** The declarations of an operator. */
export interface OperatorFacts {
  readonly name: string;
  /** Identifies it among operators of the same name. Absent if its `operator.toml` has no ID. */
  readonly id?: string;
  readonly version: string;
  /** CustomResourceDefinitions of its own kinds, as they are applied to a cluster. */
  readonly crds: readonly CustomResourceDefinitionManifest[];
  /**
   * CustomResourceDefinitions of its external kinds, as it declares them. They are never applied.
   */
  readonly externalCrds: readonly CustomResourceDefinitionManifest[];
  /**
   * Kinds of other owners on whose objects it puts finalizers: those of controllers with `cleanup`.
   */
  readonly foreignFinalized: readonly { readonly apiVersion: string; readonly kind: string }[];
  /** All kinds for which it has a controller. */
  readonly controlled: readonly { readonly group: string; readonly kind: string }[];
  /** Its sandbox permissions, each with its reason. */
  readonly sandbox: readonly SandboxRule[];
  /** Its RBAC permissions, each with its reason. */
  readonly rbac: readonly RbacRule[];
  readonly manifests: ManifestGroups;
  readonly samples: readonly Sample[];
  /** Rejections of samples by its own webhooks. Empty unless `reviewsSamples` is set. */
  readonly rejections: readonly SampleRejection[];
  /** Finalizers with explicit names; other finalizers begin with the operator's name. */
  readonly finalizers: readonly string[];
  /** Keys of its controllers. */
  readonly controllers: readonly string[];
  /**
   * CustomResourceDefinition names of the kinds that it reconciles. Kinds that it only owns or
   * reads may belong to others.
   */
  readonly reconciled: readonly string[];
  /** The `build.builder` section of its `operator.toml`. */
  readonly builder: { readonly binary?: string; readonly args?: readonly string[] };
  /** Whether its `operator.toml` enables traces. */
  readonly telemetry: boolean;
}

/** Options for {@linkcode inspect}. */
export interface InspectOptions {
  /** Where and how the operator is installed, for its manifests. */
  readonly install?: InstallOptions;
  /** Its `operator.toml`. */
  readonly project?: ProjectFile | undefined;
  /** Whether the operator's webhooks review its samples. @default {false} */
  readonly reviewsSamples?: boolean | undefined;
  /** Maps positions in a bundle to its sources. Set if the file is a bundle. */
  readonly traced?: (text: string) => string;
}

/**
 * Flags for loading a file. It may read files and environment variables, but needs neither the
 * network nor other programs.
 */
export const LOADING: readonly string[] = ["--no-prompt", "--allow-read", "--allow-env"];

/**
 * The environment variable with the folder into which test clusters write the RBAC permissions that
 * were used. `op rbac unused` sets it, and `@op/sdk/testing` reads it. An empty value is no folder.
 */
export const USAGE_FOLDER = "OP_RBAC_USAGE";

// A test that `op rbac unused` started may run `op`. The cluster that reviews samples is not a
// test, and its process may not write files.
const NO_RBAC_USAGE = { [USAGE_FOLDER]: "" };

/** Marks the line with the result among the output of the file. */
const MARK = "\u0001op:";

/**
 * Loads a file and returns the declarations of the operator that is its default export.
 *
 * @param file The URL of the file.
 * @param cwd The folder in which Deno looks for the file's configuration.
 * @param shown The file as the user typed it.
 * @param io The terminal and the shell: Ctrl-C removes temporary files.
 * @param options The installation, the settings file and what else to collect.
 * @throws {Failure} If the file cannot be loaded, its default export is not an operator, or the
 *   operator rejects the installation.
 */
export async function inspect(
  file: URL,
  cwd: string,
  shown: string,
  io: Io,
  options: InspectOptions = {},
): Promise<OperatorFacts> {
  const output = await withProject(cwd, io, async (flags) => {
    const args = ["run", "--quiet", ...flags, ...LOADING, "--ext=ts", "-"];
    const process = new Deno.Command(runningDeno(), {
      args,
      cwd,
      env: NO_RBAC_USAGE,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    // If Deno exits before it has read the script, its output has the reason.
    const writing = write(process.stdin, script(file, cwd, shown, options)).catch(() => {});
    return (await Promise.all([process.output(), writing]))[0];
  });
  throwIfInterrupted(output);
  const stdout = new TextDecoder().decode(output.stdout);
  const answer = stdout.split("\n").find((line) => line.startsWith(MARK))?.slice(MARK.length);
  if (!output.success || answer === undefined) {
    throw new Failure(unfinishedLoad(shown, output.code, new TextDecoder().decode(output.stderr)));
  }
  const { kept, ...facts } = JSON.parse(answer) as Answer;
  const near = options.traced ?? ((place: string) => place.replace(`${pathToFileURL(cwd).href}/`, ""));
  if ("loadError" in facts) {
    const { loadError } = facts;
    throw new Failure(
      options.traced === undefined ? denoErrors(loadError.message) : bundleFailure(shown, loadError, options.traced),
    );
  }
  if ("waiting" in facts) {
    throw new Failure(
      `Cannot load "${shown}": its top level did not finish within ${LOAD_TIMEOUT / 1000} s. Still active: ${
        keptAliveText(kept, near)
      }. Wait inside a part instead.`,
    );
  }
  if ("rejection" in facts) throw new Failure(facts.rejection);
  if (kept.length > 0) {
    io.err(
      `Warning: "${shown}" starts something at its top level that never ends: ${
        keptAliveText(kept, near)
      }. Start it in a service or a part, where the operator can stop it.\n`,
    );
  }
  return facts;
}

type Answer =
  & { readonly kept: readonly KeptAlive[] }
  & (OperatorFacts | { readonly rejection: string } | { readonly loadError: LoadError } | { readonly waiting: true });

/**
 * The maximum time for the top level of a file while something keeps the process alive, in
 * milliseconds. Deno itself reports an `await` that can never finish.
 */
const LOAD_TIMEOUT = 10_000;

function script(
  url: URL,
  folder: string,
  shown: string,
  { install = {}, project, reviewsSamples }: InspectOptions,
): string {
  return `
let waited = 0;
// The timers and resources that the file started. The review of samples starts timers of its own.
let kept;
const pollKeptAlive = () => kept === undefined && ++waited * 250 >= ${LOAD_TIMEOUT} && answer({ waiting: true });
${RECORD_KEPT_ALIVE}
const answer = (value) => {
  console.log("\\n" + ${JSON.stringify(MARK)} + JSON.stringify({ ...value, kept: kept ?? keptAlive() }));
  // Anything that the file started would keep the process alive.
  Deno.exit(0);
};
${loading({ url, folder }, shown)}
kept = keptAlive();
${reviewsSamples ? REVIEW_SAMPLES : ""}
async function factsOf(loaded) {
  const { name, version } = loaded;
  try {
    const project = ${JSON.stringify(project ?? null)};
    const op = project === null ? loaded : loaded.withSettings(project.text, project.path);
    const { id, builder = {}, telemetry = false } = op.config ?? {};
    const manifests = op.manifests(${JSON.stringify(install)});
    const samples = op.samples();
    const rejections = ${reviewsSamples ? "await reviewedInTime(op, samples)" : "[]"};
    return { ...op.facts(), name, id, version, crds: op.crds(), sandbox: op.sandbox(), rbac: op.rbac(), manifests, samples, rejections, builder, telemetry };
  } catch (error) {
    return { rejection: error.message };
  }
}
answer(loadError ? { loadError } : absent ? { rejection: absent } : await factsOf(op));
`;
}

async function write(stream: WritableStream<Uint8Array>, text: string): Promise<void> {
  const writer = stream.getWriter();
  await writer.write(new TextEncoder().encode(text));
  await writer.close();
}
