/** `op plan`: prints what an operator would write now, without storing it. */
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
import { missingRbac } from "./missing_rbac.ts";
import { type OperatorProcess, startOperatorProcess } from "./operator_process.ts";
import { startArguments, type StartOptions } from "./start.ts";
import { textDiff } from "./text_diff.ts";
import { step } from "../progress.ts";
import { colored } from "../terminal.ts";
import { temporaryFolder } from "../temporary_folder.ts";
import { printed, toYaml } from "../yaml.ts";

/** Options for {@linkcode plan}. */
export interface PlanOptions extends StartOptions {
  readonly output: Form;
  /** The plan is complete when the operator has sent no new request for this long: a duration. */
  readonly quiet: string;
  /** Maximum time to run the operator: a duration. */
  readonly timeout: string;
  /** Run as the operator's ServiceAccount. */
  readonly asAccount?: boolean | undefined;
  /** Fail if the operator would write an object. */
  readonly check?: boolean | undefined;
  /** Print the values of Secrets, which are masked by default. */
  readonly showSecrets?: boolean | undefined;
}

/** The pause between two checks, in milliseconds. */
const PAUSE = 50;

/**
 * Lets an operator reconcile every object once, with all writes as dry runs, and prints what it
 * would have written.
 *
 * @param file The file whose default export is the operator.
 * @param options The cluster and the output.
 * @param io The terminal and the shell.
 * @throws {Failure} If a kind is not installed, the operator exits or does not finish in time, or,
 *   with `check`, if it would write an object.
 */
export async function plan(file: string, options: PlanOptions, io: Io): Promise<void> {
  const quiet = durationOption(options.quiet, "--quiet");
  const timeout = durationOption(options.timeout, "--timeout");
  const source = await sourceFile(file, io);
  const facts = await factsOf(file, { ...options, image: NO_IMAGE }, io);
  if (facts.controllers.length === 0) return report([], options, io);
  step(`Running "${facts.name}" until it sends no more requests`, io);
  using cluster = await connectCluster(options, io);
  await checkKindsInstalled(cluster, facts);
  const { user, namespace } = accountOf(facts);
  const forward = forwardTo(cluster.client.connection, options.asAccount ? { "impersonate-user": user } : {});
  await checkRbac(forward, facts, options);
  const dry = new DryRun(forward);
  await runOperator(dry, namespace, { source, options, facts, quiet, timeout }, io);
  report(distinctChanges(dry.writes), options, io);
}

interface PlanRun {
  readonly source: SourceFile;
  readonly options: PlanOptions;
  readonly facts: OperatorFacts;
  readonly quiet: number;
  readonly timeout: number;
}

async function runOperator(
  dry: DryRun,
  namespace: string,
  { source, options, facts, quiet, timeout }: PlanRun,
  io: Io,
): Promise<void> {
  using temporary = temporaryFolder("op-plan-", io);
  const { path: folder } = temporary;
  await using proxy = openProxy({ forward: dry.forward, namespace });
  const kubeconfig = `${folder}/kubeconfig`;
  await Deno.writeTextFile(kubeconfig, proxy.kubeconfig, { mode: 0o600 });
  const { context: _, ...rest } = options;
  const settings = { ...rest, kubeconfig, logLevel: options.logLevel ?? "error" };
  const args = ["start", ...PLAN_FLAGS, "--health-port", freePort(), ...await startArguments(source, settings, io)];
  await using process = await startOperatorProcess(source, { args, isColored: false, folder }, {
    ...onStandardError(io),
    cwd: io.cwd,
  });
  await untilQuiet(dry, process, quiet, timeout, facts.name);
}

/**
 * Flags of the operator's `start` command. A plan needs no leader election, and no webhooks,
 * because the API server does not call this process.
 */
const PLAN_FLAGS = ["--no-leader-election", "--skip-webhook-server"];

/** Returns a free port, because the operator may already run on this machine. */
function freePort(): string {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return String(listener.addr.port);
}

/** Sends the operator's output to standard error, so that standard output has only the plan. */
function onStandardError({ env, err }: Io): Io {
  return { cwd: "/", env, out: err, err };
}

async function checkKindsInstalled(
  cluster: Cluster,
  { crds, externalCrds, reconciled, name }: OperatorFacts,
): Promise<void> {
  for (
    const { metadata, spec } of [...crds, ...externalCrds].filter(({ metadata }) => reconciled.includes(metadata.name))
  ) {
    const { name: version = "" } = spec.versions.find(({ storage }) => storage) ?? {};
    const kind = { apiVersion: `${spec.group}/${version}`, kind: spec.names.kind };
    if (await servedKind(cluster, kind) !== undefined) continue;
    const advice = crds.some((crd) => crd.metadata.name === metadata.name)
      ? 'Run "op deploy", or "op crd print | kubectl apply -f -".'
      : "It is external: install the project that it belongs to.";
    throw new Failure(`Cannot plan "${name}": ${metadata.name} is not installed in ${cluster.url}. ${advice}`);
  }
}

/**
 * Checks that the user has the RBAC permissions that the controllers require. Without them the
 * operator would wait forever, and the plan would time out.
 *
 * @throws {Failure} If at least one permission is missing. The message lists all of them.
 */
async function checkRbac(forward: Forward, facts: OperatorFacts, options: PlanOptions): Promise<void> {
  const needed = facts.rbac.filter(({ part, optional, direct }) =>
    part !== undefined && facts.controllers.includes(part) && !optional && !direct
  );
  const missing = await missingRbac(forward, needed, options.namespace);
  if (missing.length === 0) return;
  const user = options.asAccount ? "the operator's ServiceAccount" : "your user";
  const listed = missing.map((permission) => `  ${permission}\n`).join("");
  throw new Failure(
    `Cannot plan "${facts.name}": ${user} lacks ${
      counted(missing.length, "RBAC permission")
    }:\n${listed}Grant them with the output of "op rbac generate".`,
  );
}

async function untilQuiet(
  dry: DryRun,
  process: OperatorProcess,
  quiet: number,
  timeout: number,
  name: string,
): Promise<void> {
  const deadline = AbortSignal.timeout(timeout);
  let code: number | undefined;
  process.ended.then((ended) => code = ended);
  while (true) {
    if (code !== undefined) throw new Failure(`Cannot plan "${name}": the operator exited with code ${code}.`);
    const isQuiet = dry.running === 0 && performance.now() - dry.lastActivity > quiet;
    if (isQuiet && dry.forbidden.size > 0) {
      throw new Failure(`Cannot plan "${name}": ${[...new Set(dry.forbidden.values())].join("\n")}`);
    }
    if (isQuiet && dry.hasWatched && dry.pendingWatches === 0) return;
    if (deadline.aborted) {
      throw new Failure(
        `Cannot plan "${name}": the operator still sends requests after ${
          timeout / 1000
        } s. Wait longer with --timeout.`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}

/** Returns the writes that change an object, without duplicates. */
function distinctChanges(writes: readonly PlannedWrite[]): PlannedWrite[] {
  const changes = new Map<string, PlannedWrite>();
  for (const write of writes) {
    const diff = diffOf(write);
    if (write.rejection === undefined && write.verb !== "delete" && diff.length === 0) continue;
    const { verb, apiVersion, kind, namespace, name, subresource } = write;
    changes.set([verb, apiVersion, kind, namespace, name, subresource, ...diff].join(" "), write);
  }
  return [...changes.values()];
}

/** Fields that the API server sets, and that differ each time. */
const SERVER_FIELDS = ["creationTimestamp", "generation", "managedFields", "resourceVersion", "uid"];

function shownYaml(object: PlainValue | undefined, subresource: string | undefined): string {
  if (object === undefined) return "";
  const { status, metadata, ...rest } = object;
  if (subresource === "status" && status === undefined) return "";
  const own = Object.entries(metadata as PlainValue ?? {}).filter(([name]) => !SERVER_FIELDS.includes(name));
  const shown = subresource === "status" ? { status } : { ...rest, metadata: Object.fromEntries(own) };
  return toYaml(shown, { sortKeys: true });
}

function diffOf({ before, after, subresource }: PlannedWrite): string[] {
  return textDiff(withoutTimes(shownYaml(before, subresource)), withoutTimes(shownYaml(after, subresource)));
}

/** Replaces the times of conditions, which differ each time. */
function withoutTimes(yaml: string): string {
  return yaml.replace(/^( *(?:- )?lastTransitionTime:).*$/gm, "$1 (now)");
}

/** Masks the values of Secrets, because a plan may be in CI logs, which more people can read. */
function withoutSecrets(write: PlannedWrite): PlannedWrite {
  const [before, after] = maskSecretChange(write.before, write.after);
  return { ...write, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
}

function report(planned: readonly PlannedWrite[], options: PlanOptions, io: Io): void {
  const writes = options.showSecrets ? planned : planned.map(withoutSecrets);
  if (options.output !== "text") io.out(printed(writes, options.output));
  else {
    for (const write of writes) io.out(`${writeText(write, isColored(options, io))}\n`);
    const count = writes.filter(({ rejection }) => rejection === undefined).length;
    io.out(count === 0 ? "No changes\n" : `${counted(count, "write")} planned, nothing was stored\n`);
  }
  const rejected = writes.filter(({ rejection }) => rejection !== undefined);
  if (rejected.length > 0) {
    throw new Failure(`The API server would reject ${rejected.length} of ${counted(writes.length, "write")}.`);
  }
  if (options.check && writes.length > 0) {
    throw new Failure(`The operator would write: ${counted(writes.length, "write")} planned.`);
  }
}

function writeText(write: PlannedWrite, isColored: boolean): string {
  const { verb, kind, name, namespace, subresource, rejection } = write;
  const object = `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
  const head = `${verb} ${object}${subresource === undefined ? "" : ` (${subresource})`}`;
  if (rejection !== undefined) return `${head}: rejected: ${rejection}\n`;
  const colors = { "+": "green", "-": "red" } as const;
  const diff = diffOf(write).map((line) => {
    const color = isColored ? colors[line[0] as keyof typeof colors] : undefined;
    return `  ${color === undefined ? line : colored(line, color)}\n`;
  });
  return `${head}\n${diff.join("")}`;
}
