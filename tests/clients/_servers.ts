/**
 * The in-process and the real API server that clients run against, with kubeconfigs of
 * administrators.
 */
import {
  createApiserver,
  kubeconfigFor,
  localCertificate,
  realCluster,
  serveApiserver,
} from "../../src/testing/mod.ts";

/** The two servers. */
export interface Servers extends AsyncDisposable {
  /**
   * A temporary folder with the kubeconfig files `real` and `ours`. It is removed with the servers.
   */
  readonly folder: string;
  /** Paths of the kubeconfig files. */
  readonly kubeconfigs: { readonly real: string; readonly ours: string };
}

/** Starts both. The real one has the controllers whose work the in-process server does itself. */
export async function bothServers(): Promise<Servers> {
  await using stack = new AsyncDisposableStack();
  const real = stack.use(
    await realCluster({ controllerManager: ["garbage-collector-controller", "namespace-controller"] }),
  );
  const certificate = await localCertificate();
  const user = { name: "admin", groups: ["system:masters"] };
  const server = stack.use(createApiserver({ rbac: true, tokens: { admin: user } }));
  const served = stack.use(serveApiserver(server, { certificate }));
  const folder = await Deno.makeTempDir({ prefix: "clients-" });
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  const kubeconfigs = { real: `${folder}/real`, ours: `${folder}/ours` };
  await Deno.writeTextFile(kubeconfigs.real, real.admin.kubeconfig);
  await Deno.writeTextFile(
    kubeconfigs.ours,
    kubeconfigFor(served.url, { token: "admin", caCert: certificate.caCert }),
  );
  const owned = stack.move();
  return { folder, kubeconfigs, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
