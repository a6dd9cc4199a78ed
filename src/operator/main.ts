/**
 * Runs an operator as a program: arguments, signals, exit codes. Apart from `cli/main.ts`, only
 * this module exits a process.
 */
import { parseArgs } from "node:util";
import { systemClock } from "../base/clock.ts";
import { InternalError } from "../base/internal_error.ts";
import { MEMORY_LIMIT } from "../base/pod.ts";
import { Client } from "../kube/client.ts";
import type { Connection } from "../kube/connection.ts";
import { CERTIFICATE_SOURCES, type CertificateSource } from "../manifests/install.ts";
import type { ManifestGroups } from "../manifests/manifests.ts";
import { sandboxFlags } from "../manifests/sandbox.ts";
import { isCalled } from "../parts/part_list.ts";
import type { Logger } from "../runtime/logger.ts";
import { Metrics } from "../runtime/metrics.ts";
import { isThread } from "../runtime/offload.ts";
import { isReviewThread, ReviewThreads, serveReviews, type ThreadAnswer } from "../runtime/webhooks/review_threads.ts";
import { type Counted, countForThread, ThreadMetrics } from "../runtime/webhooks/thread_metrics.ts";
import { undeclaredUse } from "../runtime/undeclared_use.ts";
import { configured } from "./configure.ts";
import { connect, type ConnectOptions } from "./connect.ts";
import { healthResponse, type HealthSource } from "./health.ts";
import { HealthServer } from "./health_server.ts";
import { metricsGuard } from "./metrics_guard.ts";
import { configureLogs, type LogFormat, type LogLevel, operatorLog } from "./log.ts";
import { LoopLag } from "./loop_lag.ts";
import { denoMachine } from "./machine.ts";
import type { OperatorDefinition } from "./operator_definition.ts";
import { addProcessMetrics } from "./process_metrics.ts";
import { withinTrace } from "./process_tracer.ts";
import { instanceOf, type ReadinessLine, type Running, startOperator } from "./running.ts";
import { httpClient, isPaused, rateLimit, runtimeScope, skippedParts } from "./run_settings.ts";
import { SETTINGS } from "./setting_list.ts";
import { flagSettings, merged, SettingError, type Settings } from "./settings.ts";
import { settingsSource, USUAL_FILE } from "./settings_source.ts";
import { listenToStrayErrors } from "./stray_errors.ts";

/** Exit codes: success, failure, invalid arguments, internal error (EX_SOFTWARE of sysexits.h). */
const EXIT = { ok: 0, failed: 1, usage: 2, internal: 70 } as const;

/** Flags that are not settings: where the cluster and the settings file are. */
const OWN_FLAGS = {
  kubeconfig: { type: "string" },
  context: { type: "string" },
  config: { type: "string" },
  into: { type: "string" },
  image: { type: "string" },
  certificates: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

type OwnFlag = Exclude<keyof typeof OWN_FLAGS, "help">;
type Values = Readonly<Record<string, unknown>> & { readonly [name in OwnFlag]?: string };

const COMMANDS = ["start", "manifests", "crds", "rbac", "sandbox", "version"];

const STARTING: ReadinessLine = { name: "operator", isReady: false, told: "starting" };

/** Invalid arguments. The program prints the message with a hint and exits with code 2. */
class UsageError extends Error {}

/**
 * Runs an operator as the program and ends the process.
 *
 * @param operator The operator.
 * @param args The arguments.
 */
export async function main(operator: OperatorDefinition, args: readonly string[]): Promise<void> {
  // A thread of the program loads the same module, for its tasks or its webhooks.
  if (isReviewThread()) return serveReviews((start, count) => reviews(operator, start as ThreadStart, count));
  if (isThread()) return;
  try {
    await command(operator, args);
  } catch (error) {
    const told = undeclaredUse(error, "the operator") ?? (error instanceof Error ? error.message : String(error));
    writeAll(Deno.stderr, `${operator.name}: ${told}\n`);
    const isUsage = error instanceof UsageError || error instanceof SettingError;
    if (isUsage) writeAll(Deno.stderr, `Run "${operator.name} --help" for commands and options\n`);
    Deno.exit(isUsage ? EXIT.usage : error instanceof InternalError ? EXIT.internal : EXIT.failed);
  }
  Deno.exit(EXIT.ok);
}

async function command(operator: OperatorDefinition, args: readonly string[]): Promise<void> {
  const { values, positionals } = read(args);
  const [name = "start", ...rest] = positionals;
  if (rest.length > 0) throw new UsageError(`Command "${name}" takes no arguments, got "${rest[0]}"`);
  if (values.help) return writeAll(Deno.stdout, help(operator));
  switch (name) {
    case "start":
      return await start(operator, values);
    case "crds":
      return writeList((await installed(operator, values)).crd);
    case "rbac":
      return writeList((await installed(operator, values)).rbac);
    case "manifests": {
      // Not all clusters have the kinds of Prometheus; the others would reject the whole list.
      const { prometheus: _, ...groups } = await installed(operator, values);
      return writeList(Object.values(groups).flat());
    }
    case "sandbox":
      return writeAll(Deno.stdout, `${sandboxFlags((await asTold(operator, values)).sandbox()).join("\n")}\n`);
    case "version":
      return writeAll(Deno.stdout, `${operator.name} ${operator.version} (deno ${Deno.version.deno})\n`);
    default:
      throw new UsageError(`Unknown command "${name}". Available commands: ${COMMANDS.join(", ")}`);
  }
}

/** Writes a List as JSON, which every YAML parser accepts, including kubectl's. */
function writeList(items: readonly unknown[]): void {
  writeAll(Deno.stdout, `${JSON.stringify({ apiVersion: "v1", kind: "List", items }, null, 2)}\n`);
}

/**
 * Uses only the flags and the file that they name: the manifests must not depend on the machine
 * that prints them.
 */
async function installed(operator: OperatorDefinition, values: Values): Promise<ManifestGroups> {
  const { into, image, certificates } = values;
  const { namespaces } = runtimeScope(merged(flagSettings(values)));
  const told = await asTold(operator, values);
  try {
    return told.manifests({
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
async function asTold(operator: OperatorDefinition, { config }: Values): Promise<OperatorDefinition> {
  if (config === undefined) return operator;
  if (config === "-") return operator.configured(await new Response(Deno.stdin.readable).text(), "standard input");
  try {
    return operator.configured(await denoMachine.readText(config), config);
  } catch (cause) {
    if (!(cause instanceof Deno.errors.NotCapable)) throw cause;
    throw new Error(
      `Cannot read "${config}": the sandbox does not allow it. Pass it on standard input: --config - < ${config}`,
      {
        cause,
      },
    );
  }
}

function read(args: readonly string[]): { values: Values; positionals: string[] } {
  try {
    return parseArgs({ args: [...args], options: flags(), allowPositionals: true }) as {
      values: Values;
      positionals: string[];
    };
  } catch (error) {
    throw new UsageError(misread(error));
  }
}

function flags(): NonNullable<Parameters<typeof parseArgs>[0]>["options"] & object {
  const settings = SETTINGS.flatMap(({ flag, short, type }) => {
    if (flag === undefined) return [];
    const named = short === undefined ? {} : { short };
    if (type !== "boolean") {
      return [[flag, { type: "string", multiple: type === "list" || type === "namespaces", ...named }]];
    }
    return [[flag, { type: "boolean", ...named }], [`no-${flag}`, { type: "boolean" }]];
  });
  return { ...Object.fromEntries(settings), ...OWN_FLAGS };
}

/** Returns an error of `parseArgs` as an error message of the program. */
function misread(error: unknown): string {
  const { code, message } = error as Error & { code?: string };
  const option = /'(-[^ ',]*)/.exec(message)?.[1];
  if (option === undefined) return message;
  if (code === "ERR_PARSE_ARGS_UNKNOWN_OPTION") return `Unknown option "${option}"`;
  return `Option "${option}" ${/does not take/.test(message) ? "takes no value" : "needs a value"}`;
}

async function start(coded: OperatorDefinition, values: Values): Promise<void> {
  const source = settingsSource(values, isCalled(coded.parts));
  const settings = await source.read();
  const operator = configured(coded, settings);
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
  const connection = await connect(connectOptions);
  const stop = new AbortController();
  const started: { running?: Running } = {};
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
    guard: guardOf(operator, connection, log),
  };
  const host = hostName(operator);
  const instance = instanceOf(host);
  const told = { values, instance };
  using reviewThreads = skipped.skipWebhooks ? undefined : reviewThreadsOf(operator, told, { log, metrics });
  // The health server starts first: a program that cannot listen must not start the operator.
  await using _served = operator.health && serveHealth(operator.health, health);
  const running = started.running = startOperator(operator, {
    connection,
    signal: stop.signal,
    leaderElection: isElected(operator, connection) && !skipped.skipControllers,
    serveWebhooks: true,
    metrics,
    reviewThreads,
    ...skipped,
    host,
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
    log.info("Settings read again", { logLevel: logLevel(settings), paused: isPaused(settings) });
  }, (error) => log.error("Settings not read", { error: error.message }));
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    Deno.addSignalListener(signal, () => {
      log.info("Signal received", { signal });
      stop.abort(new DOMException("The operator stops", "AbortError"));
    });
  }
  await running.ended;
  connection.close();
}

/**
 * What a webhook thread receives: the flags of the program and its identity, so that log lines of
 * both have the same one.
 */
interface ThreadStart {
  readonly values: Values;
  readonly instance: string;
}

/** Creates the threads for webhook functions, if the options ask for them. */
function reviewThreadsOf(
  { parts, webhooks }: OperatorDefinition,
  start: ThreadStart,
  { log, metrics }: { readonly log: Logger; readonly metrics: Metrics },
): ReviewThreads | undefined {
  const { workers = 0 } = webhooks;
  if (workers === 0 || !isCalled(parts)) return undefined;
  const url = Deno.mainModule;
  // A program from standard input, such as one that `op` passes to Deno, cannot be loaded a second
  // time.
  if (url.endsWith("$deno$stdin.ts")) {
    log.warn("Webhooks run without threads: the program is no file", { workers });
    return undefined;
  }
  return new ReviewThreads({
    url,
    threads: workers,
    start: { ...start, values: { ...start.values } },
    clock: systemClock,
    log,
    onCount: (counted) => countForThread(metrics, counted),
  });
}

/** Creates the webhook handler in a thread, with the flags of the program. */
async function reviews(
  coded: OperatorDefinition,
  { values, instance }: ThreadStart,
  count: (counted: Counted) => void,
): Promise<ThreadAnswer> {
  const settings = await settingsSource(values, true).read();
  const operator = configured(coded, settings);
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
    // The main thread checks and reports access.
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
    const why = cause instanceof Deno.errors.AddrInUse
      ? "the port is in use. Set another with health: { port } or --health-port."
      : cause instanceof Deno.errors.NotCapable
      ? `the sandbox does not allow it. Set health.hostname and health.port in operator.toml and build again.`
      : (cause as Error).message;
    throw new Error(`Cannot serve health at ${hostname}:${port}: ${why}`, { cause });
  }
}

/**
 * Returns the container's memory limit from the variable that the Deployment sets. An executable
 * without webhooks may not read it.
 */
function memoryLimitOf({ parts }: OperatorDefinition): number | undefined {
  const bytes = isCalled(parts) ? Number(denoMachine.env(MEMORY_LIMIT)) : 0;
  return bytes > 0 ? bytes : undefined;
}

function guardOf(
  { name, version, metrics }: OperatorDefinition,
  connection: Connection,
  log: Logger,
): HealthSource["guard"] {
  if (metrics === undefined) return "nobody";
  if (!metrics.guarded) return undefined;
  const client = new Client(connection, { clock: systemClock, userAgent: `${name}/${version}` });
  return metricsGuard({ client, clock: systemClock, log });
}

function isElected({ leaderElection: { when } }: OperatorDefinition, { isInPod = false }: Connection): boolean {
  return when === "always" || (when === "in a pod" && isInPod);
}

/**
 * Returns the pod's name from the variable that Kubernetes sets. `Deno.hostname()` would need a
 * broader sandbox permission.
 */
function hostName({ name, leaderElection }: OperatorDefinition): string {
  return (leaderElection.when === "never" ? undefined : denoMachine.env("HOSTNAME")) || name;
}

function logLevel(settings: Settings): LogLevel {
  return settings.get("log_level")?.value as LogLevel | undefined ?? "info";
}

function logFormat(settings: Settings): LogFormat {
  return settings.get("log_format")?.value as LogFormat | undefined ?? (Deno.stderr.isTerminal() ? "text" : "json");
}

function help({ name, version }: OperatorDefinition): string {
  const own = [
    ["    --kubeconfig FILE", "kubeconfig (default: KUBECONFIG, the pod's service account, ~/.kube/config)"],
    ["    --context NAME", "context of the kubeconfig"],
    [
      "    --config FILE",
      `settings file (default: ${USUAL_FILE} if it exists); with manifests, "-" is standard input`,
    ],
    ["    --into NAME", `with manifests and rbac: namespace that the operator runs in (default: ${name}-system)`],
    ["    --image IMAGE", `with manifests: image of this program (default: ${name}:${version})`],
    [
      "    --certificates SOURCE",
      `with manifests and rbac: source of the webhook certificate: ${CERTIFICATE_SOURCES.join(", ")}`,
    ],
  ] as const;
  const settings = SETTINGS.flatMap(({ flag, short, type, help }) => {
    if (flag === undefined) return [];
    const value =
      { boolean: "", number: " N", duration: " TIME", list: " NAME", namespaces: " NAME" }[type as string] ?? " TEXT";
    return [[`${short === undefined ? "   " : `-${short},`} --${flag}${value}`, help] as const];
  });
  const lines = [...own, ...settings, ["-h, --help", "print this help"] as const];
  const width = Math.max(...lines.map(([left]) => left.length)) + 2;
  return `Usage: ${name} [command] [options]

Commands:
  start      run the operator (default)
  manifests  print everything that a cluster needs to run it, for "kubectl apply -f -"
  crds       print only the CustomResourceDefinitions
  rbac       print only the service account and roles
  sandbox    print the sandbox permissions as Deno flags
  version    print the version

Options:
${lines.map(([left, right]) => `  ${left.padEnd(width)}${right}`).join("\n")}

Each setting has a flag (--log-level), an environment variable (OP_LOG_LEVEL) and a key in the table
[operator] of the file (log_level). Flags take precedence over variables, variables over the file, and
the file over the code. Flags without a value have a counterpart with --no-.
`;
}

function writeAll(to: { writeSync(bytes: Uint8Array): number }, text: string): void {
  let bytes = new TextEncoder().encode(text);
  while (bytes.length > 0) bytes = bytes.subarray(to.writeSync(bytes));
}
