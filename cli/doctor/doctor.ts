/** `op doctor`: what a cluster has of an operator, and what is wrong with it. */
import { type Cluster, connectCluster } from "../cluster.ts";
import { counted } from "../plural.ts";
import { durationOption } from "../duration_option.ts";
import { Failure } from "../exit_code.ts";
import { factsOf, NO_IMAGE, type PlaceOptions } from "../generate/generate.ts";
import { type Form, type GlobalOptions, isColored } from "../global_options.ts";
import type { OperatorFacts } from "../inspect.ts";
import type { Io } from "../io.ts";
import { definitions, finalizers, identity, isInstalled, leader, permissions, server, workload } from "./checks.ts";
import { colored } from "../terminal.ts";
import { type Finding, findings, looked } from "./finding.ts";
import { webhooks } from "./webhooks.ts";
import { toYaml } from "../yaml.ts";

/** Options for {@linkcode doctor}. */
export interface DoctorOptions extends GlobalOptions, PlaceOptions {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly output: Form;
  /** After how long an object that is being deleted is stuck: a duration. */
  readonly stuckAfter: string;
}

/**
 * Looks at an operator in a cluster, and prints a line of each thing that it looks at.
 *
 * @param file The file whose default export is the operator.
 * @param options Which cluster, and how.
 * @param io The terminal and the shell.
 * @throws {Failure} If something is wrong.
 */
export async function doctor(file: string, options: DoctorOptions, io: Io): Promise<void> {
  const patience = durationOption(options.stuckAfter, "--stuck-after", 0);
  const facts = await factsOf(file, { ...options, image: NO_IMAGE }, io);
  using cluster = await connectCluster(options, io);
  const now = Date.now();
  // Without an answer to the first there is nothing else to ask.
  const reached = await server(cluster);
  const installed = await looked("installed", () => notInstalled(cluster, facts));
  const found = installed.length > 0 ? [installed] : await Promise.all([
    looked("identity", () => identity(cluster, facts)),
    looked("kinds", () => definitions(cluster, facts)),
    looked("permissions", () => permissions(cluster, facts, options.namespace)),
    looked("deployment", () => workload(cluster, facts)),
    looked("webhooks", () => webhooks(cluster, facts, now)),
    looked("leader", () => leader(cluster, facts, now)),
    looked("finalizers", () => finalizers(cluster, facts, now, patience)),
  ]);
  const all = [...reached, ...found.flat()];
  if (options.output === "json") io.out(`${JSON.stringify(all, null, 2)}\n`);
  else if (options.output === "yaml") io.out(toYaml(all));
  else io.out(all.map((finding) => line(finding, isColored(options, io))).join(""));
  const wrong = all.filter(({ verdict }) => verdict === "wrong");
  if (wrong.length > 0) {
    throw new Failure(
      `${wrong.length} of ${counted(all.length, "finding")} on "${facts.name}" ${
        wrong.length === 1 ? "is" : "are"
      } wrong`,
    );
  }
}

/** One finding instead of one for each missing permission and kind. */
async function notInstalled(cluster: Cluster, facts: OperatorFacts): Promise<Finding[]> {
  if (await isInstalled(cluster, facts)) return [];
  return [findings("installed").wrong(`nothing of "${facts.name}" is in ${cluster.url}: op deploy`)];
}

const COLORS = { good: "green", doubtful: "yellow", wrong: "red", unknown: "yellow" } as const;

function line({ check, verdict, told }: Finding, isColored: boolean): string {
  const word = verdict.padEnd(8);
  return `${isColored ? colored(word, COLORS[verdict]) : word}  ${check.padEnd(11)}  ${told}\n`;
}
