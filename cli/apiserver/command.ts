/** The command line of `op apiserver`. */
import { Command } from "@commander-js/extra-typings";
import type { Io } from "../io.ts";

/** Returns the command `op apiserver`. */
export function apiserverCommand(io: Io) {
  return new Command("apiserver")
    .description("Serve a Kubernetes API from memory, for kubectl and other clients, until Ctrl-C")
    .option("--port <number>", "port to listen on (default: a free port)")
    .option("--kubeconfig <file>", "kubeconfig to write (default: a temporary file, deleted at the end)")
    .option("--force", "overwrite an existing kubeconfig file")
    .option("--rbac", "enforce roles and bindings; the kubeconfig is the administrator's")
    .option(
      "--no-tls",
      "serve plain HTTP without authentication (default: HTTPS with the credentials of the kubeconfig)",
    )
    .action(async (options) => (await import("./apiserver.ts")).apiserver(options, io));
}
