/** What an operator says of itself, asked in a process of its own: a user's file has its own import map, and may do anything when it is loaded. */
import { pathToFileURL } from "node:url";
import type { InstallOptions, ManifestGroups, RbacRule, Sample } from "@op/sdk/operator";
import type { CustomResourceDefinitionManifest } from "@op/sdk/resource";
import { Failure, throwIfInterrupted } from "./exit_code.ts";
import { faultOf, runningDeno } from "./deno.ts";
import type { Io } from "./io.ts";
import { REVIEW_SAMPLES, type SampleRefusal } from "./generate/sample_review.ts";
import { type KeptAlive, keptAliveText, RECORD_KEPT_ALIVE } from "./kept_alive.ts";
import { bundleFailure, type LoadFault, loading, unfinishedLoad } from "./loading.ts";
import { withProject } from "./project.ts";
import type { ProjectFile } from "./project_file.ts";

/** One permission of Deno, and why the operator needs it. */
export interface Permission {
  /** A class of permissions, as the flag names it: `net`, `read`, `env`. */
  readonly access: string;
  readonly target: string;
  readonly reason: string;
}

/** An operator's own account. */
export interface OperatorFacts {
  readonly name: string;
  /** Identifies it among operators of the same name; absent where its `operator.toml` has none. */
  readonly id?: string;
  readonly version: string;
  /** CustomResourceDefinitions of its own kinds, as they are sent to a cluster. */
  readonly crds: readonly CustomResourceDefinitionManifest[];
  /** CustomResourceDefinitions of its external kinds, as it declares them. They are never sent to a cluster. */
  readonly externalCrds: readonly CustomResourceDefinitionManifest[];
  /** Kinds of others on whose objects it puts finalizers: those of controllers with a cleanup. */
  readonly foreignFinalized: readonly { readonly apiVersion: string; readonly kind: string }[];
  /** Kinds that it has a controller for, its own and others. */
  readonly controlled: readonly { readonly group: string; readonly kind: string }[];
  readonly permissions: readonly Permission[];
  readonly rights: readonly RbacRule[];
  readonly manifests: ManifestGroups;
  readonly samples: readonly Sample[];
  /** Why its own webhooks refuse samples; empty unless that was asked for. */
  readonly refusals: readonly SampleRefusal[];
  /** Finalizers that its controllers name themselves; the others begin with the operator's name. */
  readonly finalizers: readonly string[];
  /** Keys of its controllers. */
  readonly controllers: readonly string[];
  /** Names of the definitions of the kinds that it reconciles. Those that it only owns or reads may be others' as well. */
  readonly reconciled: readonly string[];
  /** What its `operator.toml` says of the program that makes images. */
  readonly builder: { readonly binary?: string; readonly args?: readonly string[] };
  /** Whether its `operator.toml` asks for traces. */
  readonly telemetry: boolean;
}

/** How an operator is asked. */
export interface InspectOptions {
  /** Where and how it is installed, for its manifests. */
  readonly install?: InstallOptions;
  /** Its `operator.toml`. */
  readonly project?: ProjectFile | undefined;
  /** Whether its webhooks review its samples. @default {false} */
  readonly reviewsSamples?: boolean | undefined;
  /** Reads places of a bundle as those of its sources, where the file is one. */
  readonly traced?: (text: string) => string;
}

/** Reading files and variables is what a file may do while it is loaded; nothing it does then needs the network or another program. */
export const LOADING: readonly string[] = ["--no-prompt", "--allow-read", "--allow-env"];

/** Set apart from whatever the file itself prints. */
const MARK = "\u0001op:";

/**
 * Loads a file and asks the operator that is its default export.
 *
 * @param file The file, as a URL.
 * @param cwd Where its configuration is looked for, there and above.
 * @param shown The file, as the user named it.
 * @param io The terminal and the shell: Ctrl-C leaves nothing behind.
 * @param options How it is asked.
 * @throws {Failure} If the file cannot be loaded, its default export is no operator, or it cannot be installed so.
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
    const process = new Deno.Command(runningDeno(), { args, cwd, stdin: "piped", stdout: "piped", stderr: "piped" })
      .spawn();
    // A Deno that ends before it has read the script says why in its output.
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
  if ("fault" in facts) {
    const { fault } = facts;
    throw new Failure(options.traced === undefined ? faultOf(fault.told) : bundleFailure(shown, fault, options.traced));
  }
  if ("waiting" in facts) {
    throw new Failure(
      `Cannot load "${shown}": its top level did not finish within ${LONGEST_WAIT / 1000} s, while this was running: ${
        keptAliveText(kept, near)
      }. Wait inside a part.`,
    );
  }
  if ("refused" in facts) throw new Failure(facts.refused);
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
  & (OperatorFacts | { readonly refused: string } | { readonly fault: LoadFault } | { readonly waiting: true });

/** How long a file may wait at its top level while something keeps the process alive, in milliseconds. Deno itself reports a wait that nothing can end. */
const LONGEST_WAIT = 10_000;

function script(
  url: URL,
  folder: string,
  shown: string,
  { install = {}, project, reviewsSamples }: InspectOptions,
): string {
  return `
let waited = 0;
// What the file started until it was loaded; a review of samples starts timers of its own.
let kept;
const whileKept = () => kept === undefined && ++waited * 250 >= ${LONGEST_WAIT} && answer({ waiting: true });
${RECORD_KEPT_ALIVE}
const answer = (value) => {
  console.log("\\n" + ${JSON.stringify(MARK)} + JSON.stringify({ ...value, kept: kept ?? keptAlive() }));
  // What the file started would keep the process alive.
  Deno.exit(0);
};
${loading({ url, folder }, shown)}
kept = keptAlive();
${reviewsSamples ? REVIEW_SAMPLES : ""}
async function factsOf(coded) {
  const { name, version } = coded;
  try {
    const project = ${JSON.stringify(project ?? null)};
    const op = project === null ? coded : coded.configured(project.text, project.path);
    const { id, builder = {}, telemetry = false } = op.config ?? {};
    const finalizers = Object.values(op.parts).flatMap((part) => part.part === "controller" ? part.finalizer ?? [] : []);
    const reconciled = Object.values(op.parts).flatMap((part) => part.part === "controller" ? part.kind.crd?.metadata.name ?? [] : []);
    const declared = Object.values(op.parts).flatMap(({ kind, into = [], owns = [], reads = [], watches = [], uses = [] }) =>
      [kind, into, owns, reads, ...[...watches, ...uses].map(({ kind }) => kind)].flat());
    const byVersions = declared.filter(({ external }) => external).map(({ crd }) => crd).sort((a, b) => b.spec.versions.length - a.spec.versions.length);
    const externalCrds = [...new Map(byVersions.toReversed().map((crd) => [crd.metadata.name, crd])).values()];
    const foreignFinalized = Object.values(op.parts).filter(({ kind, cleanup }) => cleanup && (!kind.crd || kind.external))
      .map(({ kind: { apiVersion, kind } }) => ({ apiVersion, kind }));
    const controlled = Object.values(op.parts).filter(({ part }) => part === "controller").map(({ kind: { group, kind } }) => ({ group, kind }));
    const controllers = Object.keys(op.parts).filter((key) => op.parts[key].part === "controller");
    const manifests = op.manifests(${JSON.stringify(install)});
    const samples = op.samples();
    const refusals = ${reviewsSamples ? "await reviewedInTime(op, samples)" : "[]"};
    return { name, id, version, crds: op.crds(), externalCrds, foreignFinalized, controlled, permissions: op.sandbox(), rights: op.rbac(), manifests, samples, refusals, finalizers, controllers, reconciled, builder, telemetry };
  } catch (error) {
    return { refused: error.message };
  }
}
answer(fault ? { fault } : absent ? { refused: absent } : await factsOf(op));
`;
}

async function write(stream: WritableStream<Uint8Array>, text: string): Promise<void> {
  const writer = stream.getWriter();
  await writer.write(new TextEncoder().encode(text));
  await writer.close();
}
