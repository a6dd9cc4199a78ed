/** Kubeconfig files: what they say, merged as kubectl does. */
import { isObject } from "../base/json.ts";
import { nearest } from "../base/nearest.ts";

/** A cluster's entry. */
export interface ClusterEntry {
  readonly server: string;
  readonly "certificate-authority"?: string;
  readonly "certificate-authority-data"?: string;
  readonly "insecure-skip-tls-verify"?: boolean;
  readonly "tls-server-name"?: string;
  readonly "proxy-url"?: string;
}

/** A user's entry. */
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

/** What a context of a kubeconfig says, with the file each part came from: paths in it are relative to that file. */
export interface KubeconfigContext {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly cluster: ClusterEntry;
  readonly clusterFile: string;
  readonly user: UserEntry;
  readonly userFile: string;
}

/** A file that was read: its path and its parsed YAML. */
export interface KubeconfigFile {
  readonly path: string;
  readonly content: unknown;
}

/**
 * The context that counts. As with kubectl, the first file that says something wins.
 *
 * @param files The files, in the order of `KUBECONFIG`.
 * @param wanted The context's name. @default the current one
 * @throws {Error} If the context, its cluster or its user is not there, or a file is not a kubeconfig.
 */
export function selectContext(files: readonly KubeconfigFile[], wanted?: string): KubeconfigContext {
  const paths = files.map((file) => `"${file.path}"`).join(", ");
  for (const { path, content } of files) {
    if (!isObject(content) || (content.kind !== undefined && content.kind !== "Config")) {
      throw new Error(`Cannot read kubeconfig "${path}": it is not an object of kind "Config"`);
    }
  }
  const current = wanted ??
    files.map(({ content }) => (content as Record<string, unknown>)["current-context"]).find(isName);
  if (!current) {
    throw new Error(
      `Cannot read kubeconfig ${paths}: there is no current-context: name one with --context${among(files)}`,
    );
  }
  const context = entry(files, "contexts", "context", current);
  if (!context) {
    throw new Error(`Cannot read kubeconfig ${paths}: context "${current}" is not in it${among(files, current)}`);
  }
  const cluster = entry(files, "clusters", "cluster", context.value.cluster);
  if (!cluster || !isName(cluster.value.server)) {
    throw new Error(
      `Cannot read kubeconfig ${paths}: context "${current}" names cluster "${context.value.cluster}", which has no server in it`,
    );
  }
  const user = entry(files, "users", "user", context.value.user);
  if (!user && isName(context.value.user)) {
    throw new Error(
      `Cannot read kubeconfig ${paths}: context "${current}" names user "${context.value.user}", which is not in it`,
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

/** The names that could have been meant. */
/** What there is, and which of it was most likely meant. */
function among(files: readonly KubeconfigFile[], wanted?: string): string {
  const names = files.flatMap(({ content }) => {
    const contexts = (content as Record<string, unknown>).contexts;
    return Array.isArray(contexts) ? contexts.map((item) => item?.name).filter(isName) : [];
  });
  if (names.length === 0) return "";
  const meant = wanted === undefined ? undefined : nearest(wanted, names);
  return `${meant === undefined ? "" : `: did you mean "${meant}"?`} (there are: ${names.join(", ")})`;
}
