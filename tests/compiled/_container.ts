/**
 * A pod's container, built from kernel features: mount and process namespaces, a read-only root
 * folder, the image's user, no new privileges. It has the mounts of a runtime and a kubelet:
 * `/proc`, `/dev`, the service account, the settings, `/etc/hosts`, the environment.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { ConfigMap, Deployment } from "../../src/kinds/mod.ts";
import type { Client } from "../../src/kube/client.ts";
import type { RealCluster } from "../../src/testing/real_cluster.ts";
import { eventually } from "../eventually.ts";
import { followProcess, type OperatorProcess } from "../fixtures/followed_process.ts";
import type { UnpackedImage } from "./_image_tools.ts";
import { serviceAddress } from "../fixtures/service_address.ts";
import { tokenOf } from "../fixtures/service_account.ts";

/** The parts of a pod that {@linkcode runContainer} needs. */
export interface Pod {
  readonly namespace: string;
  readonly account: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Files of `/etc/op`. */
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * Returns the pod of a Deployment in the cluster, as a kubelet would create it.
 *
 * @param client The client that reads it.
 * @param name The Deployment's name.
 * @param namespace Its namespace.
 */
export async function podOf(client: Client, name: string, namespace: string): Promise<Pod> {
  const { spec: { template } } = await client.get(Deployment, name, { namespace });
  const { serviceAccountName, containers: [container], volumes } = template.spec ?? {} as never;
  assert(container !== undefined && serviceAccountName !== undefined);
  const mount = container.volumeMounts?.find(({ mountPath }) => mountPath === "/etc/op");
  const source = volumes?.find((volume) => volume.name === mount?.name)?.configMap?.name;
  const settings = source === undefined ? undefined : await client.get(ConfigMap, source, { namespace });
  return {
    namespace,
    account: serviceAccountName,
    args: container.args ?? [],
    env: Object.fromEntries((container.env ?? []).map(({ name, value }) => [name, value ?? ""])),
    settings: settings?.data ?? {},
  };
}

/** Options of {@linkcode runContainer}. */
export interface ContainerOptions {
  readonly cluster: RealCluster;
  readonly image: UnpackedImage;
  readonly pod: Pod;
  /** Another executable to run instead of the image's. */
  readonly executable?: string;
}

const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * Runs an image's program as a container.
 *
 * @param options The program and its pod.
 */
export async function runContainer({ cluster, image, pod, executable }: ContainerOptions): Promise<OperatorProcess> {
  const { root, user, entrypoint } = image;
  const service = serviceAddress(cluster.port);
  const folder = await podFolder(cluster, pod, service.hostname);
  for (const directory of ["proc", "dev", "tmp", "etc/op", ACCOUNT]) {
    await Deno.mkdir(join(root, directory), { recursive: true });
  }
  await Deno.writeTextFile(join(root, "etc/hosts"), "");
  const mounts = `
    set -e
    root=$1 pod=$2 user=$3 executable=$4
    shift 4
    mount --bind "$root" "$root"
    if [ -n "$executable" ]; then mount --bind "$executable" "$root/$1"; fi
    mount -o remount,ro,bind "$root"
    mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
    mount -t tmpfs -o size=1m,mode=755 tmpfs "$root/dev"
    for device in null zero random urandom; do
      touch "$root/dev/$device"
      mount --bind "/dev/$device" "$root/dev/$device"
    done
    mount -t tmpfs -o size=1m,mode=1777 tmpfs "$root/tmp"
    mount --bind "$pod/hosts" "$root/etc/hosts"
    mount --bind "$pod/account" "$root${ACCOUNT}"
    mount --bind "$pod/settings" "$root/etc/op"
    exec setpriv --no-new-privs chroot --userspec="$user" "$root" "$@"`;
  const process = new Deno.Command("unshare", {
    args: [
      ...["--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child"],
      ...["sh", "-c", mounts, "sh", root, folder, user, executable ?? ""],
      ...[...entrypoint, ...pod.args],
    ],
    clearEnv: true,
    env: {
      ...Object.fromEntries(image.env.map((line) => [line.split("=")[0]!, line.slice(line.indexOf("=") + 1)])),
      KUBERNETES_SERVICE_HOST: "10.0.0.1",
      KUBERNETES_SERVICE_PORT: "443",
      HOSTNAME: `${pod.account}-0`,
      ...pod.env,
    },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  return await followProcess(process, {
    // The ID of the container's first process. The started process is unshare, which waits for it.
    pid: () =>
      eventually(async () => {
        const children = await Deno.readTextFile(`/proc/${process.pid}/task/${process.pid}/children`);
        assert.match(children, /^\d+ $/);
        return Number(children);
      }),
    dispose: async () => {
      await service[Symbol.asyncDispose]();
      await Deno.remove(folder, { recursive: true });
    },
  });
}

/** Writes the contents of the pod's mounts, with the links of a kubelet. */
async function podFolder(
  cluster: RealCluster,
  { namespace, account, settings }: Pod,
  address: string,
): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "pod-" });
  await Deno.chmod(folder, 0o755);
  await Deno.writeTextFile(join(folder, "hosts"), `127.0.0.1 localhost\n${address} kubernetes.default.svc\n`);
  const token = await tokenOf(cluster, namespace, account);
  await writeVolume(join(folder, "account"), { token, namespace, "ca.crt": cluster.caCert });
  await writeVolume(join(folder, "settings"), settings);
  return folder;
}

async function writeVolume(path: string, files: Readonly<Record<string, string>>): Promise<void> {
  await Deno.mkdir(join(path, "..2026_11_21"), { recursive: true });
  await Deno.symlink("..2026_11_21", join(path, "..data"));
  for (const [name, text] of Object.entries(files)) {
    await Deno.writeTextFile(join(path, "..2026_11_21", name), text);
    await Deno.symlink(`..data/${name}`, join(path, name));
  }
}
