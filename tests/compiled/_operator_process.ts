/**
 * A compiled operator as a pod would run it: in a mount namespace of its own, in which the API server's name leads to the real one, and the
 * service account lies where a pod has it. The machine's own files are not touched.
 */
import assert from "node:assert/strict";
import type { RealCluster } from "../../src/testing/real_cluster.ts";

/** A running operator. */
export interface OperatorProcess extends AsyncDisposable {
  readonly pid: number;
  /** The lines of its log so far. */
  readonly log: Record<string, unknown>[];
  /** Settles when a line of the log passes. Fails with the log when the process ends first. */
  logged(passes: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>;
  /** Sends a signal and answers the exit code. */
  stop(signal: Deno.Signal): Promise<number>;
}

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
  const log: Record<string, unknown>[] = [];
  const waiting = new Set<() => void>();
  let isOver = false;
  const reading = (async () => {
    let rest = "";
    for await (const text of process.stderr.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      for (const line of lines) log.push(parse(line));
      for (const look of waiting) look();
    }
    isOver = true;
    for (const look of waiting) look();
  })();
  return {
    pid: process.pid,
    log,
    logged(passes) {
      const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>();
      const look = (): void => {
        const found = log.find(passes);
        if (found !== undefined) resolve(found);
        else if (isOver) {
          reject(
            new Error(
              `The operator ended before it logged that:\n${log.map((line) => JSON.stringify(line)).join("\n")}`,
            ),
          );
        } else return;
        waiting.delete(look);
      };
      waiting.add(look);
      look();
      return promise;
    },
    async stop(signal) {
      process.kill(signal);
      return (await process.status).code;
    },
    async [Symbol.asyncDispose]() {
      try {
        process.kill("SIGKILL");
      } catch { /* it has ended */ }
      await process.status;
      await reading;
      await Deno.remove(folder, { recursive: true });
    },
  };
}

function parse(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line);
  } catch {
    return { msg: line };
  }
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
