/** Reads kubeconfig files and merges them as kubectl does. */
import { isObject } from "../base/json.ts";
import { nearest } from "../base/nearest.ts";
import { ClusterConfigError } from "./cluster_config_error.ts";

/** An entry of `clusters`. */
export interface ClusterEntry {
  readonly server: string;
  readonly "certificate-authority"?: string;
  readonly "certificate-authority-data"?: string;
  readonly "insecure-skip-tls-verify"?: boolean;
  readonly "tls-server-name"?: string;
  readonly "proxy-url"?: string;
}

/** An entry of `users`. */
export interface UserEntry {
  readonly token?: string;
  readonly tokenFile?: string;
  readonly "client-certificate"?: string;
  readonly "client-certificate-data"?: string;
  readonly "client-key"?: string;
  readonly "client-key-data"?: string;
  readonly username?: string;
  readonly exec?: unknown;
  readonly "auth-provider"?: unknown;
}

/**
 * A context with its cluster and its user, and the file of each. Paths in an entry are relative to
 * its file.
 */
export interface KubeconfigContext {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly cluster: ClusterEntry;
  readonly clusterFile: string;
  readonly user: UserEntry;
  readonly userFile: string;
}

/** A kubeconfig file that was read and parsed. */
export interface KubeconfigFile {
  readonly path: string;
  readonly content: unknown;
}

/**
 * Returns a context. As in kubectl, the first file that has an entry wins.
 *
 * @param files The files, in the order of `KUBECONFIG`.
 * @param wanted Name of the context. @default {the current context}
 * @throws {ClusterConfigError} If the context, its cluster or its user does not exist, or a file is
 * not a kubeconfig.
 */
export function selectContext(files: readonly KubeconfigFile[], wanted?: string): KubeconfigContext {
  const paths = files.map((file) => `"${file.path}"`).join(", ");
  for (const { path, content } of files) {
    if (!isObject(content) || (content.kind !== undefined && content.kind !== "Config")) {
      throw new ClusterConfigError(
        "InvalidKubeconfig",
        `Cannot read kubeconfig "${path}": it is not an object of kind "Config"`,
      );
    }
  }
  const current = wanted ??
    files.map(({ content }) => (content as Record<string, unknown>)["current-context"]).find(isName);
  if (!current) {
    throw new ClusterConfigError(
      "InvalidKubeconfig",
      `Cannot read kubeconfig ${paths}: current-context is not set. Set --context${available(files)}`,
    );
  }
  const context = entry(files, "contexts", "context", current);
  if (!context) {
    throw new ClusterConfigError(
      "InvalidKubeconfig",
      `Cannot read kubeconfig ${paths}: context "${current}" does not exist${available(files, current)}`,
    );
  }
  const cluster = entry(files, "clusters", "cluster", context.value.cluster);
  if (!cluster || !isName(cluster.value.server)) {
    throw new ClusterConfigError(
      "InvalidKubeconfig",
      `Cannot read kubeconfig ${paths}: cluster "${context.value.cluster}" of context "${current}" does not exist or has no server`,
    );
  }
  const user = entry(files, "users", "user", context.value.user);
  if (!user && isName(context.value.user)) {
    throw new ClusterConfigError(
      "InvalidKubeconfig",
      `Cannot read kubeconfig ${paths}: user "${context.value.user}" of context "${current}" does not exist`,
    );
  }
  return {
    name: current,
    namespace: isName(context.value.namespace) ? context.value.namespace : undefined,
    cluster: cluster.value as unknown as ClusterEntry,
    clusterFile: cluster.path,
    user: (user?.value ?? {}) as UserEntry,
    userFile: user?.path ?? context.path,
  };
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function entry(
  files: readonly KubeconfigFile[],
  list: string,
  key: string,
  name: unknown,
): { path: string; value: Record<string, unknown> } | undefined {
  for (const { path, content } of files) {
    const entries = (content as Record<string, unknown>)[list];
    if (!Array.isArray(entries)) continue;
    const found = entries.find((item) => isObject(item) && item.name === name && isObject(item[key]));
    if (found) return { path, value: found[key] };
  }
  return undefined;
}

/** Returns the names of all contexts, with the one that is most similar to the wanted name. */
function available(files: readonly KubeconfigFile[], wanted?: string): string {
  const names = files.flatMap(({ content }) => {
    const contexts = (content as Record<string, unknown>).contexts;
    return Array.isArray(contexts) ? contexts.map((item) => item?.name).filter(isName) : [];
  });
  if (names.length === 0) return "";
  const meant = wanted === undefined ? undefined : nearest(wanted, names);
  return `${meant === undefined ? "" : `. Did you mean "${meant}"?`} (contexts: ${names.join(", ")})`;
}
