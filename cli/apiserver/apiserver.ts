/** `op apiserver`: the API server alone, on a port of this machine, until it is stopped. */
import {
  createApiserver,
  kubeconfigFor,
  localCertificate,
  serveApiserver,
  type ServedApiserver,
  type ServeOptions,
} from "@op/sdk/testing";
import { Failure, UsageError } from "../exit_code.ts";
import type { Io } from "../io.ts";
import { untilStopped } from "./stop.ts";

/** Options of {@linkcode apiserver}, as they are typed. */
export interface ApiserverCommandOptions {
  readonly port?: string | undefined;
  readonly kubeconfig?: string | undefined;
  readonly force?: true | undefined;
  readonly rbac?: true | undefined;
  readonly tls?: true | undefined;
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
  // The administrator's: where nothing is enforced, any token will do.
  const token = crypto.randomUUID();
  const user = { name: "kubernetes-admin", groups: ["system:masters"] };
  await using server = createApiserver({ rbac: options.rbac === true, tokens: { [token]: user } });
  const certificate = options.tls === true ? await localCertificate([HOST, "localhost"]) : undefined;
  await using served = listen(server, { port, ...certificate && { certificate } });
  const text = kubeconfigFor(served.url, {
    name: "op-apiserver",
    token,
    ...certificate && { caCert: certificate.caCert },
  });
  await using file = await writeKubeconfig(text, options, io);

  io.out(`Kubernetes API on ${served.url}${options.rbac === true ? ", roles enforced" : ""}\n\n`);
  io.out(`   export KUBECONFIG=${file.path}\n   kubectl get namespaces\n\n`);
  io.out("It keeps all in memory and goes on until Ctrl-C.\n");
  await untilStopped(io);
}

function portOf(text = "0"): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65535) return port;
  throw new UsageError(`Cannot listen on port "${text}": give a number from 0 (any free port) to 65535`);
}

function listen(server: ReturnType<typeof createApiserver>, options: ServeOptions): ServedApiserver {
  try {
    return serveApiserver(server, { hostname: HOST, ...options });
  } catch (error) {
    if (!(error instanceof Deno.errors.AddrInUse) && !(error instanceof Deno.errors.PermissionDenied)) throw error;
    throw new Failure(
      `Cannot listen on port ${options.port}: ${error.message}; give another by --port, or none for any free one`,
      { cause: error },
    );
  }
}

/** The file that was asked for, or one of its own in a folder that goes with it. */
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
  return { path, [Symbol.asyncDispose]: () => Promise.resolve() };
}
