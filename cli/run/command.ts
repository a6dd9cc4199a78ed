/**
 * The command lines of `op start`, `op dev` and `op plan`, which run an operator on this machine,
 * and of `op pause` and `op resume`, which pause one in a cluster.
 */
import { Command, InvalidArgumentError } from "@commander-js/extra-typings";
import {
  ADOPT,
  ALLOW_BREAKING,
  examples,
  formOption,
  NAMESPACES,
  SINGLE_FILE,
  withCluster,
  withGlobals,
} from "../command_options.ts";
import type { Io } from "../io.ts";

const SKIP_CONTROLLERS = ["--skip-controllers", "serve only the webhooks"] as const;
const TAKE_OVER = [
  "--take-over",
  "make the running operator stand by until this one ends; both use the operator's Lease",
] as const;
const PRIORITY = [
  "--priority <number>",
  "with --take-over: priority over other processes (default: 100; a deployed operator has 0)",
  priority,
] as const;
const SKIP_WEBHOOKS = ["--skip-webhook-server", "run only the controllers"] as const;

/** Returns the command `op start`. */
export function startCommand(io: Io) {
  return withCluster(
    new Command("start").description("Run an operator on this machine, with the RBAC permissions of your kubeconfig"),
  )
    .argument("[file]", SINGLE_FILE, "main.ts")
    .argument("[more...]", "further options of the operator's start command, after --")
    .option(...NAMESPACES)
    .option(...SKIP_CONTROLLERS)
    .option(...SKIP_WEBHOOKS)
    .option(...TAKE_OVER)
    .option(...PRIORITY)
    .addHelpText("after", examples("op start", "op start single_file.ts --context dev -n team", "op start -- --paused"))
    .action(async (file, more, options, command) =>
      (await import("./start.ts")).start(file, more, withGlobals(options, command), io)
    );
}

/** Returns the command `op dev`. */
export function devCommand(io: Io) {
  return withCluster(
    new Command("dev").description("Run an operator on this machine as its ServiceAccount, and restart it on changes"),
  )
    .argument("[file]", SINGLE_FILE, "main.ts")
    .option("--local", "use an API server in this process instead of a cluster; kubectl can use it too")
    .option("--alongside", "run even if the operator also runs in the cluster; both then write the same objects")
    .option(...TAKE_OVER)
    .option(...PRIORITY)
    .option(...ADOPT)
    .option("--as-me", "use the RBAC permissions of your kubeconfig, if you may not impersonate the ServiceAccount")
    .option(...ALLOW_BREAKING)
    .option("--no-check", "do not type-check in the background")
    .option(...NAMESPACES)
    .option(...SKIP_CONTROLLERS)
    .option(...SKIP_WEBHOOKS)
    .option(
      "--webhook-url <url>",
      "URL at which the API server reaches this machine (default: the local address of the connection to the API server)",
    )
    .option("--webhook-port <port>", "port of the webhook server on this machine (default: a free port)")
    .addHelpText("after", examples("op dev", "op dev --local", "op dev --take-over --context kind-dev"))
    .action(async (file, options, command) => (await import("./dev.ts")).dev(file, withGlobals(options, command), io));
}

/** Returns the command `op plan`. */
export function planCommand(io: Io) {
  return withCluster(
    new Command("plan").description("Print as a diff what an operator would write now, without storing it"),
  )
    .argument(
      "[file]",
      "TypeScript file whose default export is the operator; its code runs, and calls to other systems are real",
      "main.ts",
    )
    .option("--as-account", "use the RBAC permissions of the operator's ServiceAccount (default: yours)")
    .option(...NAMESPACES)
    .option("--check", "exit with 1 if the operator would write something")
    .option("--show-secrets", "print the values of Secrets (default: *** instead)")
    .option("--quiet <duration>", "finish when the operator has sent no new request for this long", "1s")
    .option("--timeout <duration>", "maximum time to run the operator", "60s")
    .addOption(formOption())
    .addHelpText("after", examples("op plan", "op plan -n team --as-account", "op plan --check -o json"))
    .action(async (file, options, command) =>
      (await import("./plan.ts")).plan(file, withGlobals(options, command), io)
    );
}

/** Returns the command `op pause`. */
export function pauseCommand(io: Io) {
  return withCluster(
    new Command("pause").description("Pause all controllers of an operator in a cluster, through its Lease"),
  )
    .argument("<name>", "name of the operator")
    .option("--for <duration>", "resume after this long, such as 30m (default: pause until op resume)")
    .option(...LEASE_NAMESPACE)
    .addHelpText("after", examples("op pause shop --for 1h", "op pause shop -n shop-system"))
    .action(async (name, options) => (await import("./pause.ts")).pause(name, options, io));
}

/** Returns the command `op resume`. */
export function resumeCommand(io: Io) {
  return withCluster(new Command("resume").description("Resume an operator that op pause paused"))
    .argument("<name>", "name of the operator")
    .option(...LEASE_NAMESPACE)
    .addHelpText("after", examples("op resume shop"))
    .action(async (name, options) => (await import("./pause.ts")).resume(name, options, io));
}

const LEASE_NAMESPACE = ["-n, --namespace <name>", "namespace of the operator's Lease (default: search all)"] as const;

function priority(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a positive integer.");
}
