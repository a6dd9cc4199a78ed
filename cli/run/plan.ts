/** `op plan`: what an operator would write if it ran now, and nothing of it is. */
import { maskSecretChange } from "../internal/mod.gen.ts";
import { type Cluster, connectCluster, servedKind } from "../cluster.ts";
import { durationOption } from "../duration_option.ts";
import { counted } from "../plural.ts";
import { type SourceFile, sourceFile } from "../deno.ts";
import { Failure } from "../exit_code.ts";
import { factsOf, NO_IMAGE } from "../generate/generate.ts";
import { type Form, isColored } from "../global_options.ts";
import type { OperatorFacts } from "../inspect.ts";
import type { Io } from "../io.ts";
import { type Forward, forwardTo, openProxy } from "../proxy/proxy.ts";
import { DryRun, type PlainValue, type PlannedWrite } from "./dry_run.ts";
import { accountOf } from "./install.ts";
import { missingRights } from "./missing_rights.ts";
import { type OperatorProcess, startOperatorProcess } from "./operator_process.ts";
import { startArguments, type StartOptions } from "./start.ts";
import { textDiff } from "./text_diff.ts";
import { step } from "../progress.ts";
import { colored } from "../terminal.ts";
import { temporaryFolder } from "../temporary_folder.ts";
import { toYaml } from "../yaml.ts";

/** Options for {@linkcode plan}. */
export interface PlanOptions extends StartOptions {
  readonly output: Form;
  /** How long nothing must happen until it is over: a duration. */
  readonly quiet: string;
  /** How long it may take: a duration. */
  readonly timeout: string;
  /** As the operator's service account. */
  readonly asAccount?: boolean | undefined;
  /** End with 1 where something would be written. */
  readonly check?: boolean | undefined;
  /** Print the values of Secrets, which are masked otherwise. */
  readonly showSecrets?: boolean | undefined;
}

const BETWEEN_LOOKS = 50;

/**
 * Lets an operator reconcile every object once, on an API server that stores nothing of it, and prints what it would have written.
 *
 * @param file The file whose default export is the operator.
 * @param options How.
 * @param io The terminal and the shell.
 * @throws {Failure} If a kind is not installed, the operator ends by itself or is not done in time; with `check`, if something would be written.
 */
export async function plan(file: string, options: PlanOptions, io: Io): Promise<void> {
  const quiet = durationOption(options.quiet, "--quiet");
  const timeout = durationOption(options.timeout, "--timeout");
  const source = await sourceFile(file, io);
  const facts = await factsOf(file, { ...options, image: NO_IMAGE }, io);
  if (facts.controllers.length === 0) return tell([], options, io);
  step(`Running "${facts.name}" until nothing is left to do`, io);
  using cluster = await connectCluster(options, io);
  await refuseMissing(cluster, facts);
  const { user, namespace } = accountOf(facts);
  const forward = forwardTo(cluster.client.connection, options.asAccount ? { "impersonate-user": user } : {});
  await refuseForbidden(forward, facts, options);
  const dry = new DryRun(forward);
  await runOn(dry, namespace, { source, options, facts, quiet, timeout }, io);
  tell(changing(dry.writes), options, io);
}

interface Planned {
  readonly source: SourceFile;
  readonly options: PlanOptions;
  readonly facts: OperatorFacts;
  readonly quiet: number;
  readonly timeout: number;
}

async function runOn(
  dry: DryRun,
  namespace: string,
  { source, options, facts, quiet, timeout }: Planned,
  io: Io,
): Promise<void> {
  using temporary = temporaryFolder("op-plan-", io);
  const { path: folder } = temporary;
  await using proxy = openProxy({ forward: dry.forward, namespace });
  const kubeconfig = `${folder}/kubeconfig`;
  await Deno.writeTextFile(kubeconfig, proxy.kubeconfig, { mode: 0o600 });
  const { context: _, ...rest } = options;
  const told = { ...rest, kubeconfig, logLevel: options.logLevel ?? "error" };
  const args = ["start", ...ALONE, "--health-port", freePort(), ...await startArguments(source, told, io)];
  await using process = await startOperatorProcess(source, { args, isColored: false, folder }, {
    ...quietIo(io),
    cwd: io.cwd,
  });
  await untilQuiet(dry, process, quiet, timeout, facts.name);
}

/** Nobody else is waited for, and webhooks write nothing: what is asked of them are others' writes, and their certificate is made for those who ask. */
const ALONE = ["--no-leader-election", "--skip-webhook-server"];

/** Its own one may be taken, by the operator itself that runs here already. */
function freePort(): string {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return String(listener.addr.port);
}

/** What the operator says goes beside the plan, and not into it. */
function quietIo({ env, err }: Io): Io {
  return { cwd: "/", env, out: err, err };
}

async function refuseMissing(cluster: Cluster, { crds, externalCrds, reconciled, name }: OperatorFacts): Promise<void> {
  for (
    const { metadata, spec } of [...crds, ...externalCrds].filter(({ metadata }) => reconciled.includes(metadata.name))
  ) {
    const { name: version = "" } = spec.versions.find(({ storage }) => storage) ?? {};
    const apiVersion = `${spec.group}/${version}`;
    if (await servedKind(cluster, { apiVersion, kind: spec.names.kind }) !== undefined) continue;
    const fix = crds.some((crd) => crd.metadata.name === metadata.name)
      ? 'see "op deploy" and "op crds"'
      : "it is external: install the project that it belongs to";
    throw new Failure(`Cannot plan "${name}": ${metadata.name} is not installed in ${cluster.url}: ${fix}`);
  }
}

/**
 * Asks whether the operator may do what its controllers cannot do without: they would wait for it, and the plan with them.
 *
 * @throws {Failure} If a permission is missing; the message lists all that are.
 */
async function refuseForbidden(forward: Forward, facts: OperatorFacts, options: PlanOptions): Promise<void> {
  const needed = facts.rights.filter(({ part, seldom, live }) =>
    part !== undefined && facts.controllers.includes(part) && !seldom && !live
  );
  const missing = await missingRights(forward, needed, options.namespace);
  if (missing.length === 0) return;
  const user = options.asAccount ? "the service account" : "your user";
  const listed = missing.map((right) => `  ${right}\n`).join("");
  throw new Failure(
    `Cannot plan "${facts.name}": ${user} lacks ${missing.length} RBAC permissions:\n${listed}Grant them: "op rbac generate" prints the roles.`,
  );
}

async function untilQuiet(
  dry: DryRun,
  process: OperatorProcess,
  quiet: number,
  timeout: number,
  name: string,
): Promise<void> {
  const late = AbortSignal.timeout(timeout);
  let code: number | undefined;
  process.ended.then((ended) => code = ended);
  while (true) {
    if (code !== undefined) throw new Failure(`Cannot plan "${name}": it ended with ${code}`);
    const isQuiet = dry.running === 0 && performance.now() - dry.last > quiet;
    if (isQuiet && dry.forbidden.size > 0) {
      throw new Failure(`Cannot plan "${name}": ${[...new Set(dry.forbidden.values())].join("\n")}`);
    }
    if (isQuiet && dry.hasBegun && dry.beginning === 0) return;
    if (late.aborted) {
      throw new Failure(`Cannot plan "${name}": it is not done after ${timeout / 1000} s; wait longer with --timeout`);
    }
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_LOOKS));
  }
}

/** A write that changes nothing is none; one that is tried again is told once. */
function changing(writes: readonly PlannedWrite[]): PlannedWrite[] {
  const told = new Map<string, PlannedWrite>();
  for (const write of writes) {
    const diff = diffOf(write);
    if (write.refused === undefined && write.verb !== "delete" && diff.length === 0) continue;
    const { verb, apiVersion, kind, namespace, name, subresource } = write;
    told.set([verb, apiVersion, kind, namespace, name, subresource, ...diff].join(" "), write);
  }
  return [...told.values()];
}

/** Fields that only the server writes, and that are others each time. */
const SERVERS = ["creationTimestamp", "generation", "managedFields", "resourceVersion", "uid"];

function shownYaml(object: PlainValue | undefined, subresource: string | undefined): string {
  if (object === undefined) return "";
  const { status, metadata, ...rest } = object;
  if (subresource === "status" && status === undefined) return "";
  const own = Object.entries(metadata as PlainValue ?? {}).filter(([name]) => !SERVERS.includes(name));
  const shown = subresource === "status" ? { status } : { ...rest, metadata: Object.fromEntries(own) };
  return toYaml(shown, { sortKeys: true });
}

function diffOf({ before, after, subresource }: PlannedWrite): string[] {
  return textDiff(withoutTimes(shownYaml(before, subresource)), withoutTimes(shownYaml(after, subresource)));
}

/** When a condition was found is said anew each time. */
function withoutTimes(yaml: string): string {
  return yaml.replace(/^( *(?:- )?lastTransitionTime:).*$/gm, "$1 (now)");
}

/** A plan ends up in the logs of CI, which more people read than the Secrets of a cluster. */
function withoutSecrets(write: PlannedWrite): PlannedWrite {
  const [before, after] = maskSecretChange(write.before, write.after);
  return { ...write, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
}

function tell(planned: readonly PlannedWrite[], options: PlanOptions, io: Io): void {
  const writes = options.showSecrets ? planned : planned.map(withoutSecrets);
  if (options.output === "json") io.out(`${JSON.stringify(writes, null, 2)}\n`);
  else if (options.output === "yaml") io.out(toYaml(writes));
  else {
    for (const write of writes) io.out(`${lines(write, isColored(options, io))}\n`);
    const count = writes.filter(({ refused }) => refused === undefined).length;
    io.out(count === 0 ? "Nothing would be written\n" : `${counted(count, "write")}; nothing was stored\n`);
  }
  const refused = writes.filter(({ refused }) => refused !== undefined);
  if (refused.length > 0) throw new Failure(`${refused.length} of ${counted(writes.length, "write")} would be refused`);
  if (options.check && writes.length > 0) throw new Failure(`${counted(writes.length, "write")} would be made`);
}

function lines(write: PlannedWrite, isColored: boolean): string {
  const { verb, kind, name, namespace, subresource, refused } = write;
  const place = `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
  const head = `${verb} ${place}${subresource === undefined ? "" : ` (${subresource})`}`;
  if (refused !== undefined) return `${head}: refused: ${refused}\n`;
  const colors = { "+": "green", "-": "red" } as const;
  const diff = diffOf(write).map((line) => {
    const color = isColored ? colors[line[0] as keyof typeof colors] : undefined;
    return `  ${color === undefined ? line : colored(line, color)}\n`;
  });
  return `${head}\n${diff.join("")}`;
}
