/**
 * Runs an operator as a program: arguments, signals, exit codes. Apart from `cli/main.ts`, only
 * this module exits a process.
 */
import process from "node:process";
import { systemClock } from "../base/clock.ts";
import { InternalError } from "../base/internal_error.ts";
import { MEMORY_LIMIT } from "../base/pod.ts";
import { Client } from "../kube/client.ts";
import type { Connection } from "../kube/connection.ts";
import type { CertificateSource } from "../manifests/install.ts";
import type { ManifestGroups } from "../manifests/manifests.ts";
import { sandboxFlags } from "../manifests/sandbox.ts";
import { needsRunner } from "../parts/units.ts";
import type { Logger } from "../runtime/logger.ts";
import { Metrics } from "../runtime/metrics.ts";
import { currentReconcileLog } from "../runtime/current_reconcile.ts";
import { LogLimit } from "../runtime/log_limit.ts";
import { isThread } from "../runtime/offload.ts";
import { isReviewThread, type ReviewHandler, ReviewThreads, serveReviews } from "../runtime/webhooks/review_threads.ts";
import { countForThread, type MetricCall, ThreadMetrics } from "../runtime/webhooks/thread_metrics.ts";
import { sandboxAdvice } from "../runtime/sandbox_advice.ts";
import { connect, type ConnectOptions } from "./connect.ts";
import { healthResponse, type HealthSource } from "./health.ts";
import { HealthServer } from "./health_server.ts";
import { type MetricsGuard, metricsGuard } from "./metrics_guard.ts";
import { configureLogs, type LogFormat, type LogLevel, operatorLog } from "./log.ts";
import { warnOfLeader } from "./lease_warning.ts";
import { LoopLag } from "./loop_lag.ts";
import { denoMachine } from "./machine.ts";
import type { OperatorDefinition } from "./operator_definition.ts";
import { withinTrace } from "./process_tracer.ts";
import { instanceOf, type ReadinessLine, type Running, startOperator } from "./running.ts";
import { COMMANDS, helpOf, parseArguments, UsageError, type Values } from "./program_arguments.ts";
import { httpClient, isPaused, rateLimit, runtimeScope, skippedParts } from "./run_settings.ts";
import { flagSettings, merged, SettingError, type Settings } from "./settings.ts";
import { settingsSource } from "./settings_source.ts";

/** Exit codes: success, failure, invalid arguments, internal error (EX_SOFTWARE of sysexits.h). */
const EXIT = { ok: 0, failed: 1, usage: 2, internal: 70 } as const;

const STARTING: ReadinessLine = { name: "operator", isReady: false, message: "starting" };

/**
 * Runs an operator as the program and ends the process.
 *
 * @param operator The operator.
 * @param args The arguments.
 */
export async function main(operator: OperatorDefinition, args: readonly string[]): Promise<void> {
  // Threads of the program load the same module: for offloaded tasks, or for webhooks.
  if (isReviewThread()) {
    return serveReviews((start, count) => createReviewHandler(operator, start as ThreadStart, count));
  }
  if (isThread()) return;
  try {
    await command(operator, args);
  } catch (error) {
    const message = sandboxAdvice(error, "the operator") ?? (error instanceof Error ? error.message : String(error));
    writeAll(Deno.stderr, `${operator.name}: ${message}\n`);
    const isUsage = error instanceof UsageError || error instanceof SettingError;
    if (isUsage) writeAll(Deno.stderr, `Run "${operator.name} --help" for commands and options.\n`);
    Deno.exit(isUsage ? EXIT.usage : error instanceof InternalError ? EXIT.internal : EXIT.failed);
  }
  Deno.exit(EXIT.ok);
}

async function command(operator: OperatorDefinition, args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArguments(args);
  const [name = "start", ...rest] = positionals;
  if (rest.length > 0) throw new UsageError(`Command "${name}" takes no arguments, got "${rest[0]}".`);
  if (values.help) return writeAll(Deno.stdout, helpOf(operator));
  switch (name) {
    case "start":
      return await start(operator, values);
    case "crds":
      return writeList((await manifestsOf(operator, values)).crd);
    case "rbac":
      return writeList((await manifestsOf(operator, values)).rbac);
    case "manifests": {
      // Clusters without the kinds of the Prometheus Operator would reject the whole list.
      const { prometheus: _, ...groups } = await manifestsOf(operator, values);
      return writeList(Object.values(groups).flat());
    }
    case "sandbox":
      return writeAll(Deno.stdout, `${sandboxFlags((await withConfigFile(operator, values)).sandbox()).join("\n")}\n`);
    case "version":
      return writeAll(Deno.stdout, `${operator.name} ${operator.version} (deno ${Deno.version.deno})\n`);
    default:
      throw new UsageError(`Unknown command "${name}". Available commands: ${COMMANDS.join(", ")}.`);
  }
}

/** Writes a List as JSON, which every YAML parser accepts, including kubectl's. */
function writeList(items: readonly unknown[]): void {
  writeAll(Deno.stdout, `${JSON.stringify({ apiVersion: "v1", kind: "List", items }, null, 2)}\n`);
}

/**
 * Returns the manifests. They depend only on the flags and the file of `--config`, so every machine
 * prints the same manifests.
 */
async function manifestsOf(operator: OperatorDefinition, values: Values): Promise<ManifestGroups> {
  const { into, image, certificates } = values;
  const { namespaces } = runtimeScope(merged(flagSettings(values)));
  const configured = await withConfigFile(operator, values);
  try {
    return configured.manifests({
      ...(namespaces === undefined ? {} : { watchNamespaces: namespaces }),
      ...(into === undefined ? {} : { namespace: into }),
      ...(image === undefined ? {} : { image }),
      ...(certificates === undefined ? {} : { certificates: certificates as CertificateSource }),
    });
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error;
  }
}

/**
 * Applies the file of `--config`, if given. `-` is standard input, for executables that may not
 * read files.
 */
async function withConfigFile(operator: OperatorDefinition, { config }: Values): Promise<OperatorDefinition> {
  if (config === undefined) return operator;
  if (config === "-") return operator.withSettings(await new Response(Deno.stdin.readable).text(), "standard input");
  try {
    return operator.withSettings(await denoMachine.readText(config), config);
  } catch (cause) {
    if (!(cause instanceof Deno.errors.NotCapable)) throw cause;
    throw new Error(
      `Cannot read "${config}": the sandbox does not allow it. Pass it on standard input: --config - < ${config}`,
      { cause },
    );
  }
}

async function start(definition: OperatorDefinition, values: Values): Promise<void> {
  const source = settingsSource(values, needsRunner(definition.units, "webhookServer"));
  const settings = await source.read();
  const operator = definition.configured(settings);
  const logs = await configureLogs(logLevel(settings), logFormat(settings), (line) => writeAll(Deno.stderr, line));
  const log = operatorLog(operator.name);
  const skipped = skippedParts(settings);
  if (skipped.skipControllers && skipped.skipWebhooks) {
    throw new UsageError(
      "Cannot start: both --skip-controllers and --skip-webhook-server are set. Remove one of them.",
    );
  }
  const connectOptions: ConnectOptions = {
    ...(values.kubeconfig === undefined ? {} : { kubeconfig: values.kubeconfig }),
    ...(values.context === undefined ? {} : { context: values.context }),
    ...httpClient(settings),
  };
  const stop = new AbortController();
  const started: { running?: Running; connection?: Connection } = {};
  const metrics = new Metrics();
  listenToStrayErrors(log, () => metrics.strayError());
  using lag = new LoopLag(systemClock);
  const health: HealthSource = {
    readiness: () => started.running?.readiness() ?? [STARTING],
    get lag() {
      return lag.milliseconds;
    },
    get metrics() {
      return started.running?.metrics;
    },
    metricsAccess: metricsAccessOf(operator, () => started.connection, log),
  };
  const host = hostName(operator);
  const instance = instanceOf(host);
  using reviewThreads = skipped.skipWebhooks
    ? undefined
    : reviewThreadsOf(operator, { values, instance }, { log, metrics });
  // The health server starts first: a program that cannot listen must not start the operator, and
  // probes must get responses while the operator starts.
  await using _served = operator.health && serveHealth(operator.health, health);
  const running = started.running = startOperator(operator, {
    connection: async () => {
      const connection = started.connection = await connect(connectOptions);
      if (settings.get("leader_election.enabled")?.value === false && !skipped.skipControllers) {
        const isColored = logFormat(settings) === "text" && Deno.stderr.isTerminal() && !Deno.noColor;
        void warnOfLeader(operator.leaderElection, {
          client: new Client(connection, { clock: systemClock, userAgent: `${operator.name}/${operator.version}` }),
          log,
          namespace: connection.namespace ?? "default",
          now: systemClock.now(),
          terminal: isColored ? (text) => writeAll(Deno.stderr, text) : undefined,
        });
      }
      return connection;
    },
    signal: stop.signal,
    serveWebhooks: true,
    metrics,
    reviewThreads,
    ...skipped,
    identity: host,
    instance,
    memoryLimit: memoryLimitOf(operator),
    ...runtimeScope(settings),
    ...rateLimit(settings),
  });
  addProcessMetrics(running.metrics, lag);
  running.pause(isPaused(settings));
  using _following = source.follow(systemClock, async (settings) => {
    await logs.setLevel(logLevel(settings));
    running.pause(isPaused(settings));
    log.info("Settings reloaded", { logLevel: logLevel(settings), paused: isPaused(settings) });
  }, (error) => log.error("Settings reload failed", { error: error.message }));
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    Deno.addSignalListener(signal, () => {
      log.info("Signal received", { signal });
      stop.abort(new DOMException("The operator stops", "AbortError"));
    });
  }
  await running.ended;
}

/**
 * The data that a webhook thread receives: the flags of the program, and its identity, so that log
 * lines of both have the same `operatorID`.
 */
interface ThreadStart {
  readonly values: Values;
  readonly instance: string;
}

/** Creates the threads for webhook functions, or returns `undefined` if none are configured. */
function reviewThreadsOf(
  { units, webhooks }: OperatorDefinition,
  start: ThreadStart,
  { log, metrics }: { readonly log: Logger; readonly metrics: Metrics },
): ReviewThreads | undefined {
  const { workers = 0 } = webhooks;
  if (workers === 0 || !needsRunner(units, "webhookServer")) return undefined;
  const url = Deno.mainModule;
  // A program from standard input, such as one that `op` passes to Deno, cannot be loaded again.
  if (url.endsWith("$deno$stdin.ts")) {
    log.warn("Webhook threads not started because the program is not a file", { workers });
    return undefined;
  }
  return new ReviewThreads({
    url,
    threads: workers,
    start: { ...start, values: { ...start.values } },
    clock: systemClock,
    log,
    onMetric: (call) => countForThread(metrics, call),
  });
}

/** Creates the webhook handler in a thread, with the flags of the program. */
async function createReviewHandler(
  definition: OperatorDefinition,
  { values, instance }: ThreadStart,
  count: (counted: MetricCall) => void,
): Promise<ReviewHandler> {
  const settings = await settingsSource(values, true).read();
  const operator = definition.configured(settings);
  await configureLogs(logLevel(settings), logFormat(settings), (line) => writeAll(Deno.stderr, line));
  const metrics = new ThreadMetrics(count);
  listenToStrayErrors(operatorLog(operator.name), () => metrics.strayError());
  const { kubeconfig, context } = values;
  const connection = await connect({
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
    ...httpClient(settings),
  });
  const { webhooks } = startOperator(operator, {
    connection,
    skipControllers: true,
    leaderElection: false,
    // The main thread checks RBAC permissions.
    checkAccess: false,
    metrics,
    instance,
    ...runtimeScope(settings),
    ...rateLimit(settings),
  });
  return (request, trace) => withinTrace(trace, () => webhooks!.fetch(request));
}

function serveHealth(
  { hostname, port }: { readonly hostname: string; readonly port: number },
  source: HealthSource,
): HealthServer {
  try {
    return new HealthServer({ hostname, port, clock: systemClock }, (request) => healthResponse(request, source));
  } catch (cause) {
    const reason = cause instanceof Deno.errors.AddrInUse
      ? "the port is in use. Set another with health: { port } or --health-port."
      : cause instanceof Deno.errors.NotCapable
      ? `the sandbox does not allow it. Set health.hostname and health.port in operator.toml and build again.`
      : (cause as Error).message;
    throw new Error(`Cannot serve health at ${hostname}:${port}: ${reason}`, { cause });
  }
}

/**
 * Returns the container's memory limit from the variable that the Deployment sets. An executable
 * without webhooks may not read it.
 */
function memoryLimitOf({ units }: OperatorDefinition): number | undefined {
  const bytes = needsRunner(units, "webhookServer") ? Number(denoMachine.env(MEMORY_LIMIT)) : 0;
  return bytes > 0 ? bytes : undefined;
}

function metricsAccessOf(
  { name, version, metrics }: OperatorDefinition,
  currentConnection: () => Connection | undefined,
  log: Logger,
): NonNullable<HealthSource["metricsAccess"]> {
  if (metrics === undefined) return "disabled";
  if (!metrics.authorization) return "public";
  let guard: MetricsGuard | undefined;
  return async (request) => {
    const connection = currentConnection();
    if (connection === undefined) return new Response("Starting\n", { status: 503 });
    const client = { clock: systemClock, userAgent: `${name}/${version}` };
    guard ??= metricsGuard({ client: new Client(connection, client), clock: systemClock, log });
    return await guard(request);
  };
}

/**
 * Returns the pod's name from the variable that Kubernetes sets. `Deno.hostname()` would need a
 * broader sandbox permission.
 */
function hostName({ name, leaderElection }: OperatorDefinition): string {
  return (leaderElection.when === "never" ? undefined : denoMachine.env("HOSTNAME")) || name;
}

/** Logs and counts uncaught errors of user code, which would otherwise end the process. */
function listenToStrayErrors(log: Logger, count: () => void): void {
  // A webhook request can trigger such errors, so their log lines are rate-limited.
  const limit = new LogLimit({ clock: systemClock });
  const write = (message: string, error: unknown): void => {
    count();
    const limited = limit.next(message);
    if (limited !== undefined) (currentReconcileLog() ?? log).error(message, { error, ...limited });
  };
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    write("Unhandled rejection in user code: await every promise", event.reason);
  });
  globalThis.addEventListener("error", (event) => {
    event.preventDefault();
    write("Uncaught error in user code", event.error);
  });
}

/**
 * Adds metrics of the process. They are read from Deno, because the sandbox does not allow reading
 * `/proc`.
 */
function addProcessMetrics(metrics: Metrics, lag: LoopLag): void {
  metrics.set("started", (Date.now() - performance.now()) / 1000);
  metrics.onRead(() => {
    const { rss, heapUsed } = Deno.memoryUsage();
    const { user, system } = process.cpuUsage();
    metrics.set("memory", rss);
    metrics.set("heap", heapUsed);
    metrics.setCount("cpu", (user + system) / 1e6);
    metrics.set("loopLag", lag.milliseconds / 1000);
  });
}

function logLevel(settings: Settings): LogLevel {
  return settings.get("log_level")?.value as LogLevel | undefined ?? "info";
}

function logFormat(settings: Settings): LogFormat {
  return settings.get("log_format")?.value as LogFormat | undefined ?? (Deno.stderr.isTerminal() ? "text" : "json");
}

function writeAll(to: { writeSync(bytes: Uint8Array): number }, text: string): void {
  let bytes = new TextEncoder().encode(text);
  while (bytes.length > 0) bytes = bytes.subarray(to.writeSync(bytes));
}
