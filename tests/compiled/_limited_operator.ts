/**
 * A compiled operator with the limits of its generated Deployment: descriptors, and memory by a
 * cgroup if one can be created.
 */
import { MEMORY_LIMIT } from "../../src/base/pod.ts";
import type { Operator } from "../../mod.ts";
import { localCertificate } from "../../src/testing/local_certificate.ts";
import { createApiserver, kubeconfigFor, serveApiserver } from "../../src/testing/mod.ts";
import { followProcess, type OperatorProcess } from "../fixtures/followed_process.ts";

/** Options of {@linkcode startLimited}. */
export interface LimitedOptions {
  /** The memory limit in bytes. */
  readonly memory: number;
  /** The limit of open descriptors. */
  readonly descriptors: number;
}

/** A folder with the files that a limited operator needs outside a cluster. */
export interface OperatorFiles extends AsyncDisposable {
  /** The folder, which the operator may read. */
  readonly folder: string;
  /** The authority of the webhook certificate. */
  readonly authority: string;
}

/** A running operator, and its resource usage. */
export interface LimitedProcess extends OperatorProcess {
  /**
   * Returns the peak resident memory in bytes. It does not include mapped files, such as the
   * executable, because the kernel drops their pages before a memory limit is exceeded.
   */
  peakMemory(): number;
  /** Returns the number of open descriptors. */
  descriptors(): number;
}

/** Creates a folder with a certificate and a kubeconfig for an in-process API server. */
export async function createFiles(): Promise<OperatorFiles> {
  await using stack = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: "limited-" });
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  const { certificate, key, caCert } = await localCertificate();
  await Deno.writeTextFile(`${folder}/tls.crt`, certificate);
  await Deno.writeTextFile(`${folder}/tls.key`, key);
  const served = stack.use(serveApiserver(stack.use(createApiserver())));
  await Deno.writeTextFile(`${folder}/kubeconfig`, kubeconfigFor(served));
  const resources = stack.move();
  return { folder, authority: caCert, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

/** Returns the memory limit in an operator's manifests, in bytes. */
export function generatedMemoryLimit(operator: Pick<Operator, "manifests">): number {
  const deployment = operator.manifests().manager.find(({ kind }) => kind === "Deployment") as unknown as {
    readonly spec: { readonly template: { readonly spec: { readonly containers: readonly Container[] } } };
  };
  const [, mebibytes] = /^(\d+)Mi$/.exec(deployment.spec.template.spec.containers[0]!.resources.limits.memory)!;
  return Number(mebibytes) * 2 ** 20;
}

interface Container {
  readonly resources: { readonly limits: { readonly memory: string } };
}

/**
 * Starts an executable under limits.
 *
 * @param executable Its path.
 * @param files Its files.
 * @param options The limits.
 */
export async function startLimited(
  executable: string,
  { folder }: OperatorFiles,
  { memory, descriptors }: LimitedOptions,
): Promise<LimitedProcess> {
  const group = await memoryGroup(memory);
  const join = group === undefined ? "" : `echo $$ > ${group}/cgroup.procs`;
  const process = new Deno.Command("sh", {
    args: [
      "-c",
      `${join}\nulimit -n ${descriptors} && exec "$0" "$@"`,
      executable,
      "start",
      `--kubeconfig=${folder}/kubeconfig`,
      `--webhook-certificate=${folder}/tls.crt`,
      `--webhook-key=${folder}/tls.key`,
    ],
    clearEnv: true,
    // As in a pod, where the kubelet sets this variable.
    env: { PATH: Deno.env.get("PATH") ?? "", HOME: folder, [MEMORY_LIMIT]: String(memory) },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const running = await followProcess(process, {
    pid: () => Promise.resolve(process.pid),
    dispose: async () => {
      if (group !== undefined) await Deno.remove(group);
    },
  });
  return Object.assign(running, {
    peakMemory: () => {
      const status = Deno.readTextFileSync(`/proc/${process.pid}/status`);
      const kibibytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)![1]);
      return (kibibytes("VmHWM") - kibibytes("RssFile")) * 1024;
    },
    descriptors: () => [...Deno.readDirSync(`/proc/${process.pid}/fd`)].length,
  });
}

/**
 * Creates a cgroup with a memory limit. Returns `undefined` if this process may not; then only the
 * peak is measured.
 */
async function memoryGroup(bytes: number): Promise<string | undefined> {
  const name = `op-${crypto.randomUUID()}`;
  for (
    const { root, limit } of [
      { root: "/sys/fs/cgroup/memory", limit: "memory.limit_in_bytes" },
      { root: "/sys/fs/cgroup", limit: "memory.max" },
    ]
  ) {
    const path = `${root}/${name}`;
    try {
      await Deno.mkdir(path);
    } catch {
      continue;
    }
    try {
      await Deno.writeTextFile(`${path}/${limit}`, String(bytes), { create: false });
      return path;
    } catch {
      await Deno.remove(path);
    }
  }
  return undefined;
}
