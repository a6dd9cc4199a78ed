/**
 * Connects to the API server of a kubeconfig, with a token or a client certificate. Logins by exec
 * plugin are in `kubeconfig_login.ts`.
 */
import type { Clock } from "../base/clock.ts";
import { ClusterConfigError } from "./cluster_config_error.ts";
import type { Connection } from "./connection.ts";
import { FetchTransport, type TlsOptions, type TokenSource, withToken } from "./http.ts";
import { type KubeconfigContext, type KubeconfigFile, selectContext } from "./kubeconfig.ts";
import { type Machine, unreadableReason } from "./machine.ts";
import { tokenFile } from "./token_file.ts";

/**
 * Connects with a context of a kubeconfig.
 *
 * @param paths Paths of the files, in the order of `KUBECONFIG`.
 * @param machine Reads the files.
 * @param clock Measures the age of a token file's content.
 * @param context Name of the context. @default {the current context}
 * @throws {ClusterConfigError} If a file cannot be read or parsed, or has an unsupported setting.
 */
export async function kubeconfigConnection(
  paths: readonly string[],
  machine: Machine,
  clock: Clock,
  context?: string,
): Promise<Connection> {
  const files = await Promise.all(paths.map((path) => readKubeconfig(path, machine)));
  const chosen = selectContext(files, context);
  rejectUnsupported(chosen);
  const { cluster, user } = chosen;
  const cert = await readPem(user, "client-certificate", chosen.userFile, machine);
  const key = await readPem(user, "client-key", chosen.userFile, machine);
  if ((cert === undefined) !== (key === undefined)) {
    throw new ClusterConfigError(
      "InvalidKubeconfig",
      `Cannot use context "${chosen.name}" of "${chosen.userFile}": it has only one of client-certificate and client-key. Set both`,
    );
  }
  const ca = await readPem(cluster, "certificate-authority", chosen.clusterFile, machine);
  const transport = openTransport(chosen, {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined || key === undefined ? {} : { certificate: { cert, key } }),
    ...(cluster["proxy-url"] === undefined ? {} : { proxy: cluster["proxy-url"] }),
  });
  const token = await tokenSourceOf(chosen, paths, machine, clock);
  return {
    url: cluster.server.replace(/\/+$/, ""),
    ...(ca === undefined ? {} : { ca }),
    ...(token === undefined ? withoutToken(transport) : withToken(transport, token)),
    ...(chosen.namespace === undefined ? {} : { namespace: chosen.namespace }),
    reset: () => transport.reset(),
    close: () => transport.close(),
  };
}

function withoutToken(transport: FetchTransport): Pick<Connection, "fetch" | "send"> {
  return {
    fetch: (request) => transport.fetch(request),
    send: (url, request) => transport.send(url, request),
  };
}

async function readKubeconfig(path: string, machine: Machine): Promise<KubeconfigFile> {
  let text: string;
  try {
    text = await machine.readText(path);
  } catch (cause) {
    throw new ClusterConfigError(
      "InvalidKubeconfig",
      `Cannot read kubeconfig "${path}": it ${unreadableReason(cause, path)}`,
      { cause },
    );
  }
  // Imported here because a pod never needs it. The `yaml` package that the CLI uses would not
  // work: it reads two environment variables, for which an executable has no sandbox permission.
  const { CORE_SCHEMA, load } = await import("js-yaml");
  try {
    return { path, content: load(text, { schema: CORE_SCHEMA }) };
  } catch (cause) {
    // The parser's message quotes the line, which may contain a secret, so only the position is
    // used. It counts from 0.
    const { mark } = cause as { mark?: { line: number; column: number } };
    const position = mark === undefined ? "" : ` at line ${mark.line + 1}, column ${mark.column + 1}`;
    throw new ClusterConfigError("InvalidKubeconfig", `Cannot read kubeconfig "${path}": it is not YAML${position}`);
  }
}

function rejectUnsupported({ name, cluster, clusterFile, user, userFile }: KubeconfigContext): void {
  if (!/^https?:\/\//.test(cluster.server)) {
    throw new ClusterConfigError(
      "InvalidKubeconfig",
      `Cannot use context "${name}" of "${clusterFile}": its server "${cluster.server}" is not an http or https address`,
    );
  }
  if (cluster["insecure-skip-tls-verify"]) {
    throw new ClusterConfigError(
      "InvalidKubeconfig",
      `Cannot use context "${name}" of "${clusterFile}": insecure-skip-tls-verify is not supported. Set certificate-authority-data`,
    );
  }
  if (cluster["tls-server-name"]) {
    throw new ClusterConfigError(
      "InvalidKubeconfig",
      `Cannot use context "${name}" of "${clusterFile}": tls-server-name is not supported. Use a server address that is in its certificate`,
    );
  }
  if (user.username) {
    throw new ClusterConfigError(
      "InvalidKubeconfig",
      `Cannot use context "${name}" of "${userFile}": Kubernetes 1.19 removed logins by user name and password. Use a token or a certificate`,
    );
  }
}

/** Reads PEM data, which the kubeconfig contains as base64 or as the path of a file. */
async function readPem<Key extends "client-certificate" | "client-key" | "certificate-authority">(
  entry: { readonly [key in Key | `${Key}-data`]?: unknown },
  key: Key,
  file: string,
  machine: Machine,
): Promise<string | undefined> {
  const data = entry[`${key}-data`];
  if (typeof data === "string" && data !== "") {
    try {
      return atob(data);
    } catch {
      throw new ClusterConfigError("InvalidKubeconfig", `Cannot read kubeconfig "${file}": ${key}-data is not base64`);
    }
  }
  const path = entry[key];
  if (typeof path !== "string" || path === "") return undefined;
  try {
    return await machine.readText(resolvePath(file, path));
  } catch (cause) {
    throw new ClusterConfigError(
      "InvalidKubeconfig",
      `Cannot read kubeconfig "${file}": its ${key} "${path}" ${unreadableReason(cause, path)}`,
      { cause },
    );
  }
}

/**
 * Creates the transport, first with the certificate authority alone, so that the error can name the
 * invalid part. The causes are dropped because they may quote key material.
 */
function openTransport(
  { name, clusterFile, userFile }: KubeconfigContext,
  { certificate, ...trust }: TlsOptions,
): FetchTransport {
  let transport: FetchTransport;
  try {
    transport = new FetchTransport(trust);
  } catch {
    throw new ClusterConfigError(
      "InvalidKubeconfig",
      `Cannot use context "${name}" of "${clusterFile}": its certificate-authority is not a PEM certificate`,
    );
  }
  if (certificate === undefined) return transport;
  transport.close();
  try {
    return new FetchTransport({ ...trust, certificate });
  } catch {
    throw new ClusterConfigError(
      "InvalidKubeconfig",
      `Cannot use context "${name}" of "${userFile}": its client-certificate and client-key are invalid. ` +
        "They must be PEM, an X.509 v3 certificate, and belong to each other",
    );
  }
}

async function tokenSourceOf(
  chosen: KubeconfigContext,
  paths: readonly string[],
  machine: Machine,
  clock: Clock,
): Promise<TokenSource | undefined> {
  const { user, userFile } = chosen;
  if (user.tokenFile) return tokenFile(resolvePath(userFile, user.tokenFile), machine, clock);
  if (user.token) return () => Promise.resolve(user.token!);
  if (user.exec || user["auth-provider"]) {
    const { loginToken } = await import("./kubeconfig_login.ts");
    return loginToken(paths, machine, chosen.name);
  }
  return undefined;
}

function resolvePath(file: string, path: string): string {
  if (path.startsWith("/")) return path;
  const end = file.lastIndexOf("/");
  return end === -1 ? path : `${file.slice(0, end)}/${path}`;
}
