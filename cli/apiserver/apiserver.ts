/**
 * `op apiserver`: serves the in-process API server on a port of this machine, until it is stopped.
 */
import {
  type Apiserver,
  createApiserver,
  kubeconfigFor,
  type KubeconfigOptions,
  localAuthority,
  serveApiserver,
  type ServedApiserver,
  serveWithClientCertificates,
  supportsClientCertificates,
  type User,
} from "@op/sdk/testing";
import { Failure, UsageError } from "../exit_code.ts";
import type { Io } from "../io.ts";
import { writeErrorReason } from "../output.ts";
import { stopping } from "./stop.ts";

/** Options of {@linkcode apiserver}, from the command line. */
export interface ApiserverCommandOptions {
  readonly port?: string | undefined;
  readonly kubeconfig?: string | undefined;
  readonly force?: true | undefined;
  readonly rbac?: true | undefined;
  /**
   * Whether to serve HTTPS, with client certificates or tokens. kubectl sends neither over plain
   * HTTP.
   */
  readonly tls: boolean;
}

const HOST = "127.0.0.1";

/**
 * Serves an API server until it is stopped.
 *
 * @param options The options.
 * @param io The terminal.
 * @throws {Failure} If the port is in use, or the kubeconfig file cannot be written.
 */
export async function apiserver(options: ApiserverCommandOptions, io: Io): Promise<void> {
  const port = portOf(options.port);
  const token = crypto.randomUUID();
  const user = { name: "kubernetes-admin", groups: ["system:masters"] };
  await using server = createApiserver({ rbac: options.rbac === true, tokens: { [token]: user } });
  await using served = options.tls ? await listenSecurely(server, port, user) : listen(server, port);
  const text = kubeconfigFor(served.url, { name: "op-apiserver", token, ...served.kubeconfig });
  using stop = stopping(io);
  await using file = await writeKubeconfig(text, options, io);

  io.out(`Serving a Kubernetes API on ${served.url}${options.rbac === true ? " with RBAC" : ""}\n\n`);
  io.out(`   export KUBECONFIG=${file.path}\n   kubectl get namespaces\n\n`);
  io.out("All objects are in memory. Press Ctrl-C to stop.\n");
  await stop.stopped;
}

function portOf(text = "0"): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65535) return port;
  throw new UsageError(`Cannot listen on port "${text}": it must be a number from 0 (a free port) to 65535.`);
}

interface Served extends ServedApiserver {
  /** Settings of the kubeconfig in addition to the token. */
  readonly kubeconfig?: KubeconfigOptions;
}

function listen(server: Apiserver, port: number): Served {
  try {
    return serveApiserver(server, { hostname: HOST, port, anonymous: true });
  } catch (error) {
    throw listenError(error, port);
  }
}

/**
 * Serves HTTPS. The kubeconfig has a client certificate, or a token if Deno does not support client
 * certificates.
 */
async function listenSecurely(server: Apiserver, port: number, { name, groups }: User): Promise<Served> {
  const authority = await localAuthority();
  const options = { hostname: HOST, port, certificate: await authority.server([HOST, "localhost"]) };
  const { caCert } = authority;
  try {
    if (!supportsClientCertificates()) return { ...serveApiserver(server, options), kubeconfig: { caCert } };
    const certificate = await authority.client(name, groups);
    return { ...await serveWithClientCertificates(server, options), kubeconfig: { caCert, certificate } };
  } catch (error) {
    throw listenError(error, port);
  }
}

function listenError(error: unknown, port: number): unknown {
  if (!(error instanceof Deno.errors.AddrInUse) && !(error instanceof Deno.errors.PermissionDenied)) return error;
  return new Failure(
    `Cannot listen on port ${port}: ${error.message}. Use another --port, or omit it for a free port.`,
    { cause: error },
  );
}

/**
 * Writes the kubeconfig to the given file, or to a temporary one. It is deleted when the server
 * stops.
 */
async function writeKubeconfig(
  text: string,
  { kubeconfig, force }: ApiserverCommandOptions,
  io: Io,
): Promise<AsyncDisposable & { readonly path: string }> {
  if (kubeconfig === undefined) {
    const folder = await Deno.makeTempDir({ prefix: "op-apiserver-" });
    await Deno.writeTextFile(`${folder}/kubeconfig`, text, { mode: 0o600 });
    const remove = () => Deno.remove(folder, { recursive: true });
    return { path: `${folder}/kubeconfig`, [Symbol.asyncDispose]: remove };
  }
  const path = kubeconfig.startsWith("/") ? kubeconfig : `${io.cwd}/${kubeconfig}`;
  try {
    await Deno.writeTextFile(path, text, { mode: 0o600, createNew: force !== true });
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) {
      throw new Failure(`Cannot write "${path}": the file exists. Add --force to overwrite it.`, { cause: error });
    }
    throw new Failure(`Cannot write "${path}": ${writeErrorReason(error)}.`, { cause: error });
  }
  return { path, [Symbol.asyncDispose]: () => removeOwn(path, text) };
}

/** Deletes a file unless another program has changed or deleted it. */
async function removeOwn(path: string, text: string): Promise<void> {
  try {
    if (await Deno.readTextFile(path) === text) await Deno.remove(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
