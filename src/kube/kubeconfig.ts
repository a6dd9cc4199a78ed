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
 * A context with its cluster and its user, and the files that define them. Relative paths in an
 * entry are resolved against its file.
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
 * Returns a context. If several files have an entry with the same name, the first one wins, as in
 * kubectl.
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
      `Cannot read kubeconfig ${paths}: current-context is not set. Set --context${contextHint(files)}`,
    );
  }
  const context = findEntry(files, "contexts", "context", current);
  if (!context) {
    throw new ClusterConfigError(
      "InvalidKubeconfig",
      `Cannot read kubeconfig ${paths}: context "${current}" does not exist${contextHint(files, current)}`,
    );
  }
  const cluster = findEntry(files, "clusters", "cluster", context.value.cluster);
  if (!cluster || !isName(cluster.value.server)) {
    throw new ClusterConfigError(
      "InvalidKubeconfig",
      `Cannot read kubeconfig ${paths}: cluster "${context.value.cluster}" of context "${current}" does not exist or has no server`,
    );
  }
  const user = findEntry(files, "users", "user", context.value.user);
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

function findEntry(
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

/** Returns the end of an error message: the most similar context name, and all context names. */
function contextHint(files: readonly KubeconfigFile[], wanted?: string): string {
  const names = files.flatMap(({ content }) => {
    const contexts = (content as Record<string, unknown>).contexts;
    return Array.isArray(contexts) ? contexts.map((item) => item?.name).filter(isName) : [];
  });
  if (names.length === 0) return "";
  const similar = wanted === undefined ? undefined : nearest(wanted, names);
  return `${similar === undefined ? "" : `. Did you mean "${similar}"?`} (contexts: ${names.join(", ")})`;
}
