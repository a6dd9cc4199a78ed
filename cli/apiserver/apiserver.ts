/** `op apiserver`: the API server alone, on a port of this machine, until it is stopped. */
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
import { stopping } from "./stop.ts";

/** Options of {@linkcode apiserver}, as they are typed. */
export interface ApiserverCommandOptions {
  readonly port?: string | undefined;
  readonly kubeconfig?: string | undefined;
  readonly force?: true | undefined;
  readonly rbac?: true | undefined;
  /**
   * HTTPS, to callers with a certificate or a token; otherwise plain HTTP, over which kubectl sends
   * neither.
   */
  readonly tls: boolean;
}

const HOST = "127.0.0.1";

/**
 * Serves an API server until it is stopped.
 *
 * @param options What was typed.
 * @param io The terminal.
 * @throws {Failure} If the port is taken, or the kubeconfig file cannot be written.
 */
export async function apiserver(options: ApiserverCommandOptions, io: Io): Promise<void> {
  const port = portOf(options.port);
  const token = crypto.randomUUID();
  const user = { name: "kubernetes-admin", groups: ["system:masters"] };
  await using server = createApiserver({ rbac: options.rbac === true, tokens: { [token]: user } });
  await using served = options.tls ? await secured(server, port, user) : listen(server, port);
  const text = kubeconfigFor(served.url, { name: "op-apiserver", token, ...served.way });
  using stop = stopping(io);
  await using file = await writeKubeconfig(text, options, io);

  io.out(`Kubernetes API on ${served.url}${options.rbac === true ? ", roles enforced" : ""}\n\n`);
  io.out(`   export KUBECONFIG=${file.path}\n   kubectl get namespaces\n\n`);
  io.out("It keeps all in memory and goes on until Ctrl-C.\n");
  await stop.stopped;
}

function portOf(text = "0"): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65535) return port;
  throw new UsageError(`Cannot listen on port "${text}": give a number from 0 (any free port) to 65535`);
}

interface Served extends ServedApiserver {
  /** What a kubeconfig says of the way in, besides the token. */
  readonly way?: KubeconfigOptions;
}

function listen(server: Apiserver, port: number): Served {
  try {
    return serveApiserver(server, { hostname: HOST, port, anonymous: true });
  } catch (error) {
    throw explained(error, port);
  }
}

/**
 * Over HTTPS, with the user's certificate in the kubeconfig. Where Deno cannot ask for one, the
 * token does.
 */
async function secured(server: Apiserver, port: number, { name, groups }: User): Promise<Served> {
  const authority = await localAuthority();
  const options = { hostname: HOST, port, certificate: await authority.server([HOST, "localhost"]) };
  const { caCert } = authority;
  try {
    if (!supportsClientCertificates()) return { ...serveApiserver(server, options), way: { caCert } };
    const certificate = await authority.client(name, groups);
    return { ...await serveWithClientCertificates(server, options), way: { caCert, certificate } };
  } catch (error) {
    throw explained(error, port);
  }
}

function explained(error: unknown, port: number): unknown {
  if (!(error instanceof Deno.errors.AddrInUse) && !(error instanceof Deno.errors.PermissionDenied)) return error;
  return new Failure(
    `Cannot listen on port ${port}: ${error.message}; give another by --port, or none for any free one`,
    { cause: error },
  );
}

/**
 * The file that was asked for, or one of its own in a folder. Either goes when the server does: it
 * leads nowhere then.
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
      throw new Failure(`Cannot write "${path}": it is there already; give --force to replace it`, { cause: error });
    }
    const why = error instanceof Error ? error.message : String(error);
    throw new Failure(`Cannot write "${path}": ${why}`, { cause: error });
  }
  return { path, [Symbol.asyncDispose]: () => removeOwn(path, text) };
}

/** Takes a file away, unless somebody wrote something else into it meanwhile, or took it away. */
async function removeOwn(path: string, text: string): Promise<void> {
  try {
    if (await Deno.readTextFile(path) === text) await Deno.remove(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
