/** Finds the API server. */
import type { Clock } from "../base/clock.ts";
import type { Connection } from "./connection.ts";
import { inCluster } from "./in_cluster.ts";
import { kubeconfigConnection } from "./kubeconfig_connection.ts";
import type { Machine } from "./machine.ts";
import { whyUnreadable } from "./unreadable.ts";

/** Options of {@linkcode connect}. */
export interface ConnectOptions {
  /** A kubeconfig file. It goes before everything else. @default {what {@linkcode connect} finds} */
  readonly kubeconfig?: string;
  /** A context of the kubeconfig. @default {its current one} */
  readonly context?: string;
}

/**
 * Finds the API server where controller-runtime does, in its order: the kubeconfig asked for, `KUBECONFIG`, the pod's service account,
 * `~/.kube/config`.
 *
 * @param machine Reads environment and files.
 * @param clock Says when tokens are read again.
 * @param options Additional options.
 * @throws {Error} If there is none; the message says where it was looked for.
 */
export async function connect(machine: Machine, clock: Clock, options: ConnectOptions = {}): Promise<Connection> {
  if (options.kubeconfig !== undefined) {
    return await kubeconfigConnection([options.kubeconfig], machine, clock, options.context);
  }
  const isHidden = isHiddenIn(machine);
  const listed = isHidden ? [] : (machine.env("KUBECONFIG") ?? "").split(":").filter(Boolean);
  if (listed.length > 0) {
    return await kubeconfigConnection(await present(listed, machine), machine, clock, options.context);
  }
  const pod = await inCluster(machine, clock);
  if (pod !== undefined) return pod;
  if (isHidden) {
    throw new Error(
      "Cannot find a cluster: not in a pod, and this executable may read no kubeconfig: run it in a pod, run the operator from source, or add " +
        "the kubeconfig to sandbox: { read: [...] } of the operator and build again",
    );
  }
  const home = machine.env("HOME");
  const usual = `${home}/.kube/config`;
  const error = home === undefined ? undefined : await readingError(usual, machine);
  if (home !== undefined && error === undefined) {
    return await kubeconfigConnection([usual], machine, clock, options.context);
  }
  const missing = home === undefined ? "HOME is unset" : `"${usual}" ${whyUnreadable(error, usual).split(":")[0]}`;
  throw new Error(
    `Cannot find a cluster: KUBECONFIG is unset; ${missing}; not in a pod: ` +
      (error instanceof Deno.errors.NotCapable
        ? "run it in a pod, or run the operator from source"
        : "name a kubeconfig with --kubeconfig or KUBECONFIG"),
  );
}

/** Whether the sandbox hides the variables that name kubeconfigs, as it does in an executable that may read no such file. */
function isHiddenIn(machine: Machine): boolean {
  try {
    machine.env("KUBECONFIG");
    return false;
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) return true;
    throw error;
  }
}

/** Of several files those that are there, as kubectl has it; all of them when none is, so that the error names them. */
async function present(paths: readonly string[], machine: Machine): Promise<readonly string[]> {
  if (paths.length === 1) return paths;
  const errors = await Promise.all(paths.map((path) => readingError(path, machine)));
  const there = paths.filter((_, i) => !(errors[i] instanceof Deno.errors.NotFound));
  return there.length === 0 ? paths : there;
}

async function readingError(path: string, machine: Machine): Promise<unknown> {
  try {
    await machine.readText(path);
    return undefined;
  } catch (error) {
    return error;
  }
}
