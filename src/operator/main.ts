/** An operator as a program: arguments, signals, exit codes. It is the only place beside `cli/main.ts` that ends a process. */
import { parseArgs } from "node:util";
import { permissionFlags } from "../manifests/sandbox.ts";
import { connect, type ConnectOptions } from "./connect.ts";
import { healthResponse } from "./health.ts";
import { configureLogs, LOG_LEVELS, type LogFormat, type LogLevel, operatorLog } from "./log.ts";
import { denoMachine } from "./machine.ts";
import type { Connection } from "../kube/connection.ts";
import type { Operator } from "./operator.ts";
import { type ReadinessLine, type Running, startOperator } from "./running.ts";

/** Exit codes: as it should, it failed, it was asked wrongly. */
const EXIT = { ok: 0, failed: 1, usage: 2 } as const;

const OPTIONS = {
  kubeconfig: { type: "string" },
  context: { type: "string" },
  namespace: { type: "string", short: "n" },
  "log-level": { type: "string", short: "l" },
  "log-format": { type: "string" },
  "leader-election": { type: "boolean" },
  "no-leader-election": { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

type Values = { [Name in keyof typeof OPTIONS]?: (typeof OPTIONS)[Name]["type"] extends "boolean" ? boolean : string };

const STARTING: ReadinessLine = { name: "operator", isReady: false, told: "starting" };

/** The arguments were wrong: told with a hint, exit code 2. */
class UsageError extends Error {}

/**
 * Runs an operator as the program and ends the process.
 *
 * @param operator The operator.
 * @param args The arguments.
 */
export async function main(operator: Operator, args: readonly string[]): Promise<void> {
  try {
    await command(operator, args);
  } catch (error) {
    const told = error instanceof Error ? error.message : String(error);
    writeAll(Deno.stderr, `${operator.name}: ${told}\n`);
    if (error instanceof UsageError) writeAll(Deno.stderr, `Say "${operator.name} --help" for what there is\n`);
    Deno.exit(error instanceof UsageError ? EXIT.usage : EXIT.failed);
  }
  Deno.exit(EXIT.ok);
}

async function command(operator: Operator, args: readonly string[]): Promise<void> {
  const { values, positionals } = read(args);
  const [name = "start", ...rest] = positionals;
  if (rest.length > 0) throw new UsageError(`Cannot run "${name}": it takes no argument, and there is "${rest[0]}"`);
  if (values.help) return writeAll(Deno.stdout, help(operator));
  switch (name) {
    case "start":
      return await start(operator, values);
    case "crds":
      // A List, as JSON: every YAML reader takes it, kubectl as well.
      return writeAll(
        Deno.stdout,
        `${JSON.stringify({ apiVersion: "v1", kind: "List", items: operator.crds() }, null, 2)}\n`,
      );
    case "permissions":
      return writeAll(Deno.stdout, `${permissionFlags(operator.permissions()).join("\n")}\n`);
    case "version":
      return writeAll(Deno.stdout, `${operator.name} ${operator.version} (deno ${Deno.version.deno})\n`);
    default:
      throw new UsageError(`Cannot run "${name}": there is start, crds, permissions, version`);
  }
}

function read(args: readonly string[]): { values: Values; positionals: string[] } {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true }) as {
      values: Values;
      positionals: string[];
    };
  } catch (error) {
    throw new UsageError(misread(error));
  }
}

/** What `parseArgs` did not like, in our words. */
function misread(error: unknown): string {
  const { code, message } = error as Error & { code?: string };
  const option = /'(-[^ ',]*)/.exec(message)?.[1];
  if (option === undefined) return message;
  if (code === "ERR_PARSE_ARGS_UNKNOWN_OPTION") return `Cannot take "${option}": there is no such option`;
  return `Cannot take "${option}": ${/does not take/.test(message) ? "it takes no value" : "it needs a value"}`;
}

async function start(operator: Operator, values: Values): Promise<void> {
  await configureLogs(logLevel(values), logFormat(values), (line) => writeAll(Deno.stderr, line));
  const log = operatorLog(operator.name);
  const connectOptions: ConnectOptions = {
    ...(values.kubeconfig === undefined ? {} : { kubeconfig: values.kubeconfig }),
    ...(values.context === undefined ? {} : { context: values.context }),
  };
  if (values.namespace === "") {
    throw new UsageError('Cannot look at namespace "": it has no name; leave --namespace out to look at all');
  }
  const connection = await connect(connectOptions);
  const stop = new AbortController();
  // A promise of user code that nobody waited for must not end the operator for all other objects.
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    log.error("Unhandled rejection in user code: await every promise", { error: event.reason });
  });
  globalThis.addEventListener("error", (event) => {
    event.preventDefault();
    log.error("Uncaught error in user code", { error: event.error });
  });
  let readiness: Running["readiness"] = () => [STARTING];
  // Before anything else: a program that cannot listen does not begin.
  const health = operator.health && serveHealth(operator.health, () => readiness(), stop.signal);
  const running = startOperator(operator, {
    connection,
    signal: stop.signal,
    leaderElection: isElected(operator, values, connection),
    host: hostName(operator),
    ...(values.namespace === undefined ? {} : { namespaces: [values.namespace] }),
  });
  readiness = running.readiness;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    Deno.addSignalListener(signal, () => {
      log.info("Signal received", { signal });
      stop.abort(new DOMException("The operator stops", "AbortError"));
    });
  }
  await running.ended;
  await health?.finished;
  connection.close();
}

function serveHealth(
  { hostname, port }: { readonly hostname: string; readonly port: number },
  readiness: Parameters<typeof healthResponse>[1],
  signal: AbortSignal,
): Deno.HttpServer {
  try {
    return Deno.serve({ hostname, port, signal, onListen: () => {} }, (request) => healthResponse(request, readiness));
  } catch (cause) {
    const why = cause instanceof Deno.errors.AddrInUse
      ? "the port is taken: choose another with health: { port }"
      : (cause as Error).message;
    throw new Error(`Cannot serve health at ${hostname}:${port}: ${why}`, { cause });
  }
}

/** What is said at the start goes before what the code says. */
function isElected({ leaderElection: { when } }: Operator, values: Values, { isInPod = false }: Connection): boolean {
  if (values["no-leader-election"]) return false;
  return values["leader-election"] === true || when === "always" || (when === "in a pod" && isInPod);
}

/** The pod's name: Kubernetes sets it. Asking the machine would need a permission that gives away more. */
function hostName({ name, leaderElection }: Operator): string {
  return (leaderElection.when === "never" ? undefined : denoMachine.env("HOSTNAME")) || name;
}

function logLevel(values: Values): LogLevel {
  const asked = values["log-level"] ?? "info";
  const level = LOG_LEVELS.find((level) => level === asked);
  if (level === undefined) throw new UsageError(`Cannot log at "${asked}": there is ${LOG_LEVELS.join(", ")}`);
  return level;
}

function logFormat(values: Values): LogFormat {
  const asked = values["log-format"] ?? (Deno.stderr.isTerminal() ? "text" : "json");
  if (asked !== "json" && asked !== "text") throw new UsageError(`Cannot log as "${asked}": there is json, text`);
  return asked;
}

function help({ name }: Operator): string {
  return `Usage: ${name} [command] [options]

Commands:
  start        run the operator (without a command as well)
  crds         print the CustomResourceDefinitions
  permissions  print the Deno permissions it needs
  version      print its version

Options:
      --kubeconfig FILE   the kubeconfig to use; otherwise KUBECONFIG, the pod's service account, ~/.kube/config
      --context NAME      the kubeconfig's context
  -n, --namespace NAME    look at one namespace only
  -l, --log-level LEVEL   ${LOG_LEVELS.join(", ")}
      --log-format FORMAT json, text; otherwise text on a terminal
      --leader-election   work only while leading; --no-leader-election: work in any case; otherwise as the code says
  -h, --help              this text
`;
}

function writeAll(to: { writeSync(bytes: Uint8Array): number }, text: string): void {
  let bytes = new TextEncoder().encode(text);
  while (bytes.length > 0) bytes = bytes.subarray(to.writeSync(bytes));
}
