/** Finds the API server: by kubeconfig, or from inside a pod. */
import type { Clock } from "../base/clock.ts";
import { ClusterConfigError } from "./cluster_config_error.ts";
import type { Connection } from "./connection.ts";
import { inCluster } from "./in_cluster.ts";
import { kubeconfigConnection } from "./kubeconfig_connection.ts";
import { type Machine, whyUnreadable } from "./machine.ts";

/** The HTTP clients that a pod can use. */
export const HTTP_CLIENTS = ["http2", "fetch"] as const;

/** Options of {@linkcode connect}. */
export interface ConnectOptions {
  /** Path of a kubeconfig file. @default {the one that {@linkcode connect} finds} */
  readonly kubeconfig?: string;
  /** Name of a context of the kubeconfig. @default {its current context} */
  readonly context?: string;
  /**
   * HTTP client inside a pod: `http2` is faster, `fetch` is Deno's own. With a kubeconfig it is
   * always `fetch`. @default {"http2"}
   */
  readonly httpClient?: "http2" | "fetch" | undefined;
}

/**
 * Connects to the API server. It looks where controller-runtime does, in the same order: the
 * `kubeconfig` option, `KUBECONFIG`, the pod's service account, `~/.kube/config`.
 *
 * @param machine Reads environment and files.
 * @param clock Measures when tokens must be read again.
 * @param options Additional options.
 * @throws {ClusterConfigError} If there is no cluster, or its kubeconfig is invalid.
 */
export async function connect(machine: Machine, clock: Clock, options: ConnectOptions = {}): Promise<Connection> {
  if (options.kubeconfig !== undefined) {
    return await kubeconfigConnection([options.kubeconfig], machine, clock, options.context);
  }
  const isHidden = isHiddenIn(machine);
  const listed = isHidden ? [] : (machine.env("KUBECONFIG") ?? "").split(":").filter(Boolean);
  if (listed.length > 0) {
    return await kubeconfigConnection(await existingFiles(listed, machine), machine, clock, options.context);
  }
  const pod = await inCluster(machine, clock, options.httpClient);
  if (pod !== undefined) return pod;
  if (isHidden) {
    throw new ClusterConfigError(
      "NoCluster",
      "No cluster found: this is not a pod, and the executable has no sandbox permission to read a kubeconfig. " +
        "Run it in a pod, run the operator from source, or add the kubeconfig to sandbox: { read: [...] } of the operator and build it again",
    );
  }
  const home = machine.env("HOME");
  const defaultPath = `${home}/.kube/config`;
  const error = home === undefined ? undefined : await readingError(defaultPath, machine);
  if (home !== undefined && error === undefined) {
    return await kubeconfigConnection([defaultPath], machine, clock, options.context);
  }
  const missing = home === undefined
    ? "HOME is unset"
    : `"${defaultPath}" ${whyUnreadable(error, defaultPath).split(".")[0]}`;
  throw new ClusterConfigError(
    "NoCluster",
    `No cluster found: KUBECONFIG is unset, ${missing}, and this is not a pod. ` +
      (error instanceof Deno.errors.NotCapable
        ? "Run it in a pod, or run the operator from source"
        : "Set KUBECONFIG or --kubeconfig"),
  );
}

/**
 * Returns whether the sandbox hides the variables of kubeconfigs, as in an executable that has no
 * sandbox permission to read such a file.
 */
function isHiddenIn(machine: Machine): boolean {
  try {
    machine.env("KUBECONFIG");
    return false;
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) return true;
    throw error;
  }
}

/**
 * Returns those of several files that exist, as kubectl does. If none exists, it returns all, so
 * that the error names them.
 */
async function existingFiles(paths: readonly string[], machine: Machine): Promise<readonly string[]> {
  if (paths.length === 1) return paths;
  const errors = await Promise.all(paths.map((path) => readingError(path, machine)));
  const existing = paths.filter((_, i) => !(errors[i] instanceof Deno.errors.NotFound));
  return existing.length === 0 ? paths : existing;
}

async function readingError(path: string, machine: Machine): Promise<unknown> {
  try {
    await machine.readText(path);
    return undefined;
  } catch (error) {
    return error;
  }
}
