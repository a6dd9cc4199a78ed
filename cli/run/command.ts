/**
 * The command lines of `op start`, `op dev` and `op plan`, which run an operator on this machine.
 */
import { Command } from "@commander-js/extra-typings";
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
    .addHelpText("after", examples("op dev", "op dev --local", "op dev --context kind-dev -l debug"))
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
