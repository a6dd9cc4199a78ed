/** Finds the API server and connects to it, with a kubeconfig or as a pod. */
import type { Clock } from "../base/clock.ts";
import { ClusterConfigError } from "./cluster_config_error.ts";
import type { Connection } from "./connection.ts";
import { inCluster } from "./in_cluster.ts";
import { type Machine, unreadableReason } from "./machine.ts";

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
 * Connects to the API server. It uses the first of these that exists, as controller-runtime
 * does: the `kubeconfig` option, `KUBECONFIG`, the pod's service account, `~/.kube/config`.
 *
 * @param machine Reads environment variables and files.
 * @param clock Measures the age of tokens, which are read again when they are old.
 * @param options Additional options.
 * @throws {ClusterConfigError} If no cluster is configured, or its kubeconfig is invalid.
 */
export async function connect(machine: Machine, clock: Clock, options: ConnectOptions = {}): Promise<Connection> {
  if (options.kubeconfig !== undefined) {
    return await fromKubeconfig([options.kubeconfig], machine, clock, options.context);
  }
  const isDenied = isKubeconfigDenied(machine);
  const listed = isDenied ? [] : (machine.env("KUBECONFIG") ?? "").split(":").filter(Boolean);
  if (listed.length > 0) {
    return await fromKubeconfig(await existingFiles(listed, machine), machine, clock, options.context);
  }
  const pod = await inCluster(machine, clock, options.httpClient);
  if (pod !== undefined) return pod;
  if (isDenied) {
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
    return await fromKubeconfig([defaultPath], machine, clock, options.context);
  }
  const missing = home === undefined
    ? "HOME is unset"
    : `"${defaultPath}" ${unreadableReason(error, defaultPath).split(".")[0]}`;
  throw new ClusterConfigError(
    "NoCluster",
    `No cluster found: KUBECONFIG is unset, ${missing}, and this is not a pod. ` +
      (error instanceof Deno.errors.NotCapable
        ? "Run it in a pod, or run the operator from source"
        : "Set KUBECONFIG or --kubeconfig"),
  );
}

/**
 * Connects with kubeconfigs. The code for that is loaded on demand, because pods do not need it.
 */
async function fromKubeconfig(
  paths: readonly string[],
  machine: Machine,
  clock: Clock,
  context: string | undefined,
): Promise<Connection> {
  const { kubeconfigConnection } = await import("./kubeconfig_connection.ts");
  return await kubeconfigConnection(paths, machine, clock, context);
}

/**
 * Returns whether the sandbox denies access to `KUBECONFIG`, as in an executable without a sandbox
 * permission to read a kubeconfig.
 */
function isKubeconfigDenied(machine: Machine): boolean {
  try {
    machine.env("KUBECONFIG");
    return false;
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) return true;
    throw error;
  }
}

/**
 * Returns the files that exist, as kubectl does. If there is only one file, or none exists, it
 * returns all, so that reading them fails with an error that names them.
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
