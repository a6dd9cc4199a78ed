/** `op doctor`: checks an operator in a cluster. */
import { type Cluster, connectCluster } from "../cluster.ts";
import { counted } from "../plural.ts";
import { durationOption } from "../duration_option.ts";
import { Failure } from "../exit_code.ts";
import { factsOf, NO_IMAGE, type PlaceOptions } from "../generate/generate.ts";
import { type Form, type GlobalOptions, isColored } from "../global_options.ts";
import type { OperatorFacts } from "../inspect.ts";
import type { Io } from "../io.ts";
import { definitions, finalizers, identity, isInstalled, leader, rbac, server, workload } from "./checks.ts";
import { colored } from "../terminal.ts";
import { checked, type Finding, findings } from "./finding.ts";
import { webhooks } from "./webhooks.ts";
import { printed } from "../yaml.ts";

/** Options for {@linkcode doctor}. */
export interface DoctorOptions extends GlobalOptions, PlaceOptions {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly output: Form;
  /** A deletion that takes longer is reported: a duration. */
  readonly stuckAfter: string;
}

/**
 * Checks an operator in a cluster, and prints a line for each finding.
 *
 * @param file The file whose default export is the operator.
 * @param options The cluster and the output format.
 * @param io The terminal and the shell.
 * @throws {Failure} If a check finds an error.
 */
export async function doctor(file: string, options: DoctorOptions, io: Io): Promise<void> {
  const stuckAfter = durationOption(options.stuckAfter, "--stuck-after", 0);
  const facts = await factsOf(file, { ...options, image: NO_IMAGE }, io);
  using cluster = await connectCluster(options, io);
  const now = Date.now();
  // This check runs first, because no other check can run if the server does not respond.
  const reached = await server(cluster);
  const installed = await checked("installed", () => notInstalled(cluster, facts));
  const found = installed.length > 0 ? [installed] : await Promise.all([
    checked("identity", () => identity(cluster, facts)),
    checked("kinds", () => definitions(cluster, facts)),
    checked("rbac", () => rbac(cluster, facts, options.namespace)),
    checked("deployment", () => workload(cluster, facts)),
    checked("webhooks", () => webhooks(cluster, facts, now)),
    checked("leader", () => leader(cluster, facts, now)),
    checked("finalizers", () => finalizers(cluster, facts, now, stuckAfter)),
  ]);
  const all = [...reached, ...found.flat()];
  if (options.output !== "text") io.out(printed(all, options.output));
  else io.out(all.map((finding) => line(finding, isColored(options, io))).join(""));
  const errors = all.filter(({ verdict }) => verdict === "error");
  if (errors.length > 0) {
    throw new Failure(
      `${errors.length} of ${counted(all.length, "finding")} on "${facts.name}" ${
        errors.length === 1 ? "is an error" : "are errors"
      }`,
    );
  }
}

/** Returns one finding, instead of one for each missing permission and kind. */
async function notInstalled(cluster: Cluster, facts: OperatorFacts): Promise<Finding[]> {
  if (await isInstalled(cluster, facts)) return [];
  return [findings("installed").error(`"${facts.name}" is not installed in ${cluster.url}. Run "op deploy".`)];
}

const COLORS = { ok: "green", warning: "yellow", error: "red", unknown: "yellow" } as const;

function line({ check, verdict, message }: Finding, isColored: boolean): string {
  const word = verdict.padEnd(8);
  return `${isColored ? colored(word, COLORS[verdict]) : word}  ${check.padEnd(11)}  ${message}\n`;
}
