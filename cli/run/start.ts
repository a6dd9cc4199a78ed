/** `op start`: runs an operator on this machine, against the cluster of a kubeconfig. */
import { join, resolve } from "node:path";
import { type SourceFile, sourceFile } from "../deno.ts";
import { connectCluster } from "../cluster.ts";
import { Interrupted, OperatorEnded, UsageError } from "../exit_code.ts";
import { factsOf, NO_IMAGE } from "../generate/generate.ts";
import { exists } from "../new/atomic_folder.ts";
import type { OperatorFacts } from "../inspect.ts";
import type { GlobalOptions } from "../global_options.ts";
import { isColored } from "../global_options.ts";
import type { Io } from "../io.ts";
import { temporaryFolder } from "../temporary_folder.ts";
import { healthArguments } from "./health_port.ts";
import { type OperatorProcess, startOperatorProcess } from "./operator_process.ts";
import { electionLease, type Leader, runningOperator } from "./running_operator.ts";

/** Options for {@linkcode start}. */
export interface StartOptions extends GlobalOptions {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly namespace?: readonly string[] | undefined;
  readonly skipControllers?: boolean | undefined;
  readonly skipWebhookServer?: boolean | undefined;
  /** Make the running operator stand by until this one ends. */
  readonly takeOver?: boolean | undefined;
  /** Priority over other processes. */
  readonly priority?: number | undefined;
}

/**
 * Runs an operator until it exits.
 *
 * @param file The file whose default export is the operator.
 * @param more Additional arguments for the operator's own `start` command.
 * @param options The cluster and how to run.
 * @param io The terminal and the shell.
 * @throws {OperatorEnded} If the operator exits with an error, which it has logged.
 */
export async function start(file: string, more: readonly string[], options: StartOptions, io: Io): Promise<void> {
  // Arguments after "--" are for the operator, even if no file is named.
  const [named, rest] = file.startsWith("-") ? ["main.ts", [file, ...more]] : [file, more];
  const source = await sourceFile(named, io);
  checkPriority(options);
  const facts = await factsIfLoadable(named, options, io);
  if (facts !== undefined) await warnIfRunning(facts, options, io);
  const hasHealthPort = rest.some((argument) => /^--health-port(=|$)/.test(argument));
  const health = facts === undefined || hasHealthPort ? [] : healthArguments(facts, io);
  const takingOver = facts === undefined ? [] : takeOverArguments(facts, options);
  const args = ["start", ...await startArguments(source, options, io), ...takingOver, ...health, ...rest];
  using folder = temporaryFolder("op-project-", io);
  await using process = await startOperatorProcess(
    source,
    { args, isColored: isColored(options, io), folder: folder.path },
    io,
  );
  folder.ignoreInterrupts();
  const code = await untilEnded(process, io);
  if (code !== 0) throw new OperatorEnded(code);
}

/** The priority of a process that takes over, if none is given. */
export const TAKE_OVER_PRIORITY = 100;

/** The maximum time to query the cluster before the operator starts, in milliseconds. */
const QUERY_TIMEOUT = 5000;

/**
 * Returns the operator's declarations, or `undefined` if the operator cannot be loaded. The
 * operator's process reports the error in that case.
 */
async function factsIfLoadable(file: string, options: StartOptions, io: Io): Promise<OperatorFacts | undefined> {
  try {
    return await factsOf(file, { ...options, image: NO_IMAGE }, io);
  } catch (error) {
    if (error instanceof Interrupted) throw error;
    return undefined;
  }
}

/**
 * Warns if the operator already runs in the cluster. If the cluster cannot be reached, the operator
 * itself reports it.
 */
async function warnIfRunning(facts: OperatorFacts, options: StartOptions, io: Io): Promise<void> {
  try {
    using cluster = await connectCluster(options, io);
    const running = await runningOperator(cluster, facts, Date.now(), AbortSignal.timeout(QUERY_TIMEOUT));
    const { processes, remedy, leader } = running;
    if (processes.length === 0) return;
    if (options.takeOver === true && leader !== undefined) return io.err(takeOverMessage(leader, options));
    const advice = leader === undefined ? "" : " To make it stand by until this process ends, add --take-over.";
    io.err(
      `Warning: "${facts.name}" already runs in ${cluster.url}: ${processes.join("; ")}. Both write the same objects.` +
        `${advice}${remedy === undefined ? "" : ` To stop the deployed operator: ${remedy}`}\n`,
    );
  } catch (error) {
    if (error instanceof Interrupted) throw error;
  }
}

/** @throws {UsageError} If there is a priority without `--take-over`. */
export function checkPriority({ takeOver, priority }: StartOptions): void {
  if (priority === undefined || takeOver === true) return;
  throw new UsageError("Cannot use --priority without --take-over: it is the priority of a process that takes over.");
}

/** Returns a message about the leader from which a process takes over. */
export function takeOverMessage({ holder, priority }: Leader, options: StartOptions): string {
  const own = options.priority ?? TAKE_OVER_PRIORITY;
  if (priority < own) return `Taking over from ${holder}, which stands by until this process ends\n`;
  return `Warning: ${holder} leads with priority ${priority}, so this process stands by until it ends. ` +
    `To take over now, use --priority ${priority + 1}.\n`;
}

/**
 * Returns the flags with which the operator takes over.
 *
 * @throws {UsageError} If the operator has no Lease.
 */
export function takeOverArguments(facts: OperatorFacts, { takeOver, priority }: StartOptions): string[] {
  if (takeOver !== true) return [];
  const lease = electionLease(facts);
  if (lease === undefined) {
    throw new UsageError(
      `Cannot take over: "${facts.name}" has no Lease, because it has no controllers or "leaderElection: false". ` +
        "Stop the other process, and remove --take-over.",
    );
  }
  const given = priority === undefined ? [] : ["--priority", String(priority)];
  return ["--take-over", ...given, "--leader-election-namespace", lease.namespace];
}

/** Returns the flags for the operator's own `start` command. */
export async function startArguments(source: SourceFile, options: StartOptions, io: Io): Promise<string[]> {
  const { kubeconfig, context, namespace = [], logLevel, skipControllers, skipWebhookServer } = options;
  const defaultConfig = join(source.folder, "operator.toml");
  const config = options.config === undefined
    ? await exists(defaultConfig) ? defaultConfig : undefined
    : resolve(io.cwd, options.config);
  return [
    ...(kubeconfig === undefined ? [] : ["--kubeconfig", resolve(io.cwd, kubeconfig)]),
    ...(context === undefined ? [] : ["--context", context]),
    ...(config === undefined ? [] : ["--config", config]),
    ...(logLevel === undefined ? [] : ["--log-level", logLevel]),
    ...namespace.flatMap((name) => ["--namespace", name]),
    ...(skipControllers ? ["--skip-controllers"] : []),
    ...(skipWebhookServer ? ["--skip-webhook-server"] : []),
  ];
}

/** Waits until the operator exits. Signals that stop `op` stop the operator. */
async function untilEnded(process: OperatorProcess, io: Io): Promise<number> {
  const stopOperator = (): void => process.signal("SIGTERM");
  if (io.stop !== undefined) {
    io.stop.addEventListener("abort", stopOperator, { once: true });
    if (io.stop.aborted) stopOperator();
    return await process.ended;
  }
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const signal of signals) Deno.addSignalListener(signal, stopOperator);
  try {
    return await process.ended;
  } finally {
    for (const signal of signals) Deno.removeSignalListener(signal, stopOperator);
  }
}
