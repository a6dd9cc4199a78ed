/**
 * A compiled operator as a pod would run it: in a mount namespace of its own, in which the API server's name leads to the real one, and the
 * service account lies where a pod has it. The machine's own files are not touched.
 */
import assert from "node:assert/strict";
import type { RealCluster } from "../../src/testing/real_cluster.ts";
import { followed, type OperatorProcess } from "./_followed.ts";

/** Options of {@linkcode startAsPod}. */
export interface PodOptions {
  readonly cluster: RealCluster;
  readonly token: string;
  readonly args?: readonly string[];
  /** Variables besides those that every pod has. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Starts an executable as a pod would.
 *
 * @param executable Its path.
 * @param options Where the API server is, and who it is.
 */
export async function startAsPod(
  executable: string,
  { cluster, token, args = ["start"], env = {} }: PodOptions,
): Promise<OperatorProcess> {
  const folder = await Deno.makeTempDir({ prefix: "pod-" });
  await Deno.writeTextFile(`${folder}/ca.crt`, cluster.caCert);
  await Deno.writeTextFile(`${folder}/token`, token);
  await Deno.writeTextFile(`${folder}/namespace`, "default");
  await Deno.writeTextFile(`${folder}/hosts`, "127.0.0.1 kubernetes.default.svc localhost\n");
  const mounts = `
    set -e
    mount --bind "$0/hosts" /etc/hosts
    mount -t tmpfs tmpfs /run
    mkdir -p /var/run/secrets/kubernetes.io/serviceaccount
    mount --bind "$0" /var/run/secrets/kubernetes.io/serviceaccount
    exec "$@"`;
  const isRoot = Deno.uid() === 0;
  const process = new Deno.Command("unshare", {
    args: [
      ...(isRoot ? [] : ["--user", "--map-root-user"]),
      "--mount",
      "sh",
      "-c",
      mounts,
      folder,
      executable,
      ...args,
    ],
    clearEnv: true,
    env: {
      PATH: Deno.env.get("PATH") ?? "",
      KUBERNETES_SERVICE_HOST: "10.0.0.1",
      KUBERNETES_SERVICE_PORT: String(cluster.port),
      ...env,
    },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  return followed(process, {
    pid: () => Promise.resolve(process.pid),
    dispose: () => Deno.remove(folder, { recursive: true }),
  });
}

/**
 * The permission flags that an executable was compiled with, as `deno compile` wrote them into it.
 *
 * @param executable Its path.
 */
export async function compiledPermissions(executable: string): Promise<Record<string, unknown>> {
  const text = new TextDecoder("latin1").decode(await Deno.readFile(executable));
  const found = [...text.matchAll(/"permissions":(\{[^{}]*"allow_all"[^{}]*\})/g)].at(-1);
  assert(found, `"${executable}" has no record of its permissions`);
  return JSON.parse(found[1]!);
}
