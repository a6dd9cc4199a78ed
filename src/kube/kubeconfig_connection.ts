/** The way to the API server that a kubeconfig names. Plain credentials are read here; logins by program are left to the official client. */
import type { Clock } from "../base/clock.ts";
import type { Connection } from "./connection.ts";
import { tlsTransport, type TokenSource, withToken } from "./http.ts";
import { type KubeconfigContext, type KubeconfigFile, selectContext } from "./kubeconfig.ts";
import type { Machine } from "./machine.ts";
import { whyUnreadable } from "./unreadable.ts";
import { tokenFile } from "./token_file.ts";

/**
 * Connects as a kubeconfig says.
 *
 * @param paths The files, first wins.
 * @param machine Reads them.
 * @param clock Says when a token file is to be read again.
 * @param context The context's name. @default the current one
 * @throws {Error} If a file cannot be read or parsed, or asks for what is not supported.
 */
export async function kubeconfigConnection(
  paths: readonly string[],
  machine: Machine,
  clock: Clock,
  context?: string,
): Promise<Connection> {
  const files = await Promise.all(paths.map((path) => readKubeconfig(path, machine)));
  const chosen = selectContext(files, context);
  refuseUnsupported(chosen);
  const { cluster, user } = chosen;
  const cert = await material(user, "client-certificate", chosen.userFile, machine);
  const key = await material(user, "client-key", chosen.userFile, machine);
  if ((cert === undefined) !== (key === undefined)) {
    throw new Error(
      `Cannot use context "${chosen.name}" of "${chosen.userFile}": a client certificate and its key go together`,
    );
  }
  const ca = await material(cluster, "certificate-authority", chosen.clusterFile, machine);
  const { close, reset, ...transport } = openTransport(chosen, {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined || key === undefined ? {} : { certificate: { cert, key } }),
    ...(cluster["proxy-url"] === undefined ? {} : { proxy: cluster["proxy-url"] }),
  });
  const token = await tokenOf(chosen, paths, machine, clock);
  return {
    url: cluster.server.replace(/\/+$/, ""),
    ...(token === undefined ? transport : withToken(transport, token)),
    ...(chosen.namespace === undefined ? {} : { namespace: chosen.namespace }),
    reset,
    close,
  };
}

async function readKubeconfig(path: string, machine: Machine): Promise<KubeconfigFile> {
  let text: string;
  try {
    text = await machine.readText(path);
  } catch (cause) {
    throw new Error(`Cannot read kubeconfig "${path}": it ${whyUnreadable(cause, path)}`, { cause });
  }
  // Loaded only here: a pod never needs it. Not the library of the command line and the API server: that one reads two variables of the environment
  // as it parses, for which an executable has no permission.
  const { CORE_SCHEMA, load } = await import("js-yaml");
  try {
    return { path, content: load(text, { schema: CORE_SCHEMA }) };
  } catch (cause) {
    // The parser's message quotes the line, which may hold a secret: only the place is told. It counts from 0.
    const { mark } = cause as { mark?: { line: number; column: number } };
    const place = mark === undefined ? "" : ` at line ${mark.line + 1}, column ${mark.column + 1}`;
    throw new Error(`Cannot read kubeconfig "${path}": it is not YAML${place}`);
  }
}

function refuseUnsupported({ name, cluster, clusterFile, user, userFile }: KubeconfigContext): void {
  if (!/^https?:\/\//.test(cluster.server)) {
    throw new Error(
      `Cannot use context "${name}" of "${clusterFile}": its server "${cluster.server}" is not an http or https address`,
    );
  }
  if (cluster["insecure-skip-tls-verify"]) {
    throw new Error(
      `Cannot use context "${name}" of "${clusterFile}": insecure-skip-tls-verify is not supported: give the authority with certificate-authority-data`,
    );
  }
  if (cluster["tls-server-name"]) {
    throw new Error(
      `Cannot use context "${name}" of "${clusterFile}": tls-server-name is not supported: use a server address that is in the certificate`,
    );
  }
  if (user.username) {
    throw new Error(
      `Cannot use context "${name}" of "${userFile}": Kubernetes takes no user name and password since 1.19: use a token or a certificate`,
    );
  }
}

/** PEM text that stands in the file itself as base64, or in another file that it names. */
async function material<Key extends "client-certificate" | "client-key" | "certificate-authority">(
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
      throw new Error(`Cannot read kubeconfig "${file}": ${key}-data is not base64`);
    }
  }
  const path = entry[key];
  if (typeof path !== "string" || path === "") return undefined;
  try {
    return await machine.readText(beside(file, path));
  } catch (cause) {
    throw new Error(`Cannot read kubeconfig "${file}": its ${key} "${path}" ${whyUnreadable(cause, path)}`, { cause });
  }
}

/** Opens it with the authority alone first, so that the message can say what is wrong. Causes may quote key material: they are not passed on. */
function openTransport(
  { name, clusterFile, userFile }: KubeconfigContext,
  { certificate, ...trust }: Parameters<typeof tlsTransport>[0],
): ReturnType<typeof tlsTransport> {
  let transport: ReturnType<typeof tlsTransport>;
  try {
    transport = tlsTransport(trust);
  } catch {
    throw new Error(
      `Cannot use context "${name}" of "${clusterFile}": its certificate-authority is no certificate: is it PEM?`,
    );
  }
  if (certificate === undefined) return transport;
  transport.close();
  try {
    return tlsTransport({ ...trust, certificate });
  } catch {
    throw new Error(
      `Cannot use context "${name}" of "${userFile}": its client-certificate and client-key cannot be used: are they PEM, X.509 v3, and of one pair?`,
    );
  }
}

async function tokenOf(
  chosen: KubeconfigContext,
  paths: readonly string[],
  machine: Machine,
  clock: Clock,
): Promise<TokenSource | undefined> {
  const { user, userFile } = chosen;
  if (user.tokenFile) return tokenFile(beside(userFile, user.tokenFile), machine, clock);
  if (user.token) return () => Promise.resolve(user.token!);
  if (user.exec || user["auth-provider"]) {
    const { loginToken } = await import("./kubeconfig_login.ts");
    return loginToken(paths, machine, chosen.name);
  }
  return undefined;
}

function beside(file: string, path: string): string {
  if (path.startsWith("/")) return path;
  const end = file.lastIndexOf("/");
  return end === -1 ? path : `${file.slice(0, end)}/${path}`;
}
