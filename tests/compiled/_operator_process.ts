/**
 * A compiled operator as a pod would run it: in a mount namespace of its own, in which the API server's name leads to the real one, and the
 * service account lies where a pod has it. The machine's own files are not touched.
 */
import assert from "node:assert/strict";
import type { RealCluster } from "../../src/testing/real_cluster.ts";
import { followed, type OperatorProcess } from "./_followed.ts";
import { serviceAddress } from "./_service_address.ts";

/** Options of {@linkcode startAsPod}. */
export interface PodOptions {
  readonly cluster: Pick<RealCluster, "caCert" | "port">;
  readonly token: string;
  /** The namespace of the pod. @default {"default"} */
  readonly namespace?: string;
  readonly args?: readonly string[];
  /** Variables besides those that every pod has. */
  readonly env?: Readonly<Record<string, string>>;
  /** The text of `operator.toml`, linked as a kubelet links the keys of a ConfigMap; or a link to another file. @default {there is none} */
  readonly settings?: string | { readonly link: string };
  /**
   * Whether the API server is reached on its own port, and not on that of the Service. The executable must be permitted to do so; a measurement does not
   * want what is in between. @default {false}
   */
  readonly direct?: boolean;
}

/**
 * Starts an executable as a pod would.
 *
 * @param executable Its path.
 * @param options Where the API server is, and who it is.
 */
export async function startAsPod(
  executable: string,
  { cluster, token, namespace = "default", args = ["start"], env = {}, settings, direct = false }: PodOptions,
): Promise<OperatorProcess> {
  const service = direct ? undefined : serviceAddress(cluster.port);
  const folder = await Deno.makeTempDir({ prefix: "pod-" });
  await Deno.writeTextFile(`${folder}/ca.crt`, cluster.caCert);
  await Deno.writeTextFile(`${folder}/token`, token);
  await Deno.writeTextFile(`${folder}/namespace`, namespace);
  await Deno.writeTextFile(
    `${folder}/hosts`,
    `127.0.0.1 localhost\n${service?.hostname ?? "127.0.0.1"} kubernetes.default.svc\n`,
  );
  // A whole /etc of its own: there is no place for settings in the machine's.
  await Deno.mkdir(`${folder}/etc/op`, { recursive: true });
  await Deno.writeTextFile(`${folder}/etc/nsswitch.conf`, "hosts: files\n");
  const data = `${folder}/etc/op/..2026_11_21`;
  if (typeof settings === "string") {
    await Deno.mkdir(data);
    await Deno.writeTextFile(`${data}/operator.toml`, settings);
    await Deno.symlink("..2026_11_21", `${folder}/etc/op/..data`);
  }
  const link = typeof settings === "object" ? settings.link : "..data/operator.toml";
  if (settings !== undefined) await Deno.symlink(link, `${folder}/etc/op/operator.toml`);
  await Deno.rename(`${folder}/hosts`, `${folder}/etc/hosts`);
  const mounts = `
    set -e
    mount --bind "$0/etc" /etc
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
      KUBERNETES_SERVICE_PORT: direct ? String(cluster.port) : "443",
      ...env,
    },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  return followed(process, {
    pid: () => Promise.resolve(process.pid),
    dispose: async () => {
      await service?.[Symbol.asyncDispose]();
      await Deno.remove(folder, { recursive: true });
    },
  });
}

/**
 * The permission flags that an executable was compiled with, as `deno compile` wrote them into it.
 *
 * @param executable Its path.
 */
export async function compiledPermissions(executable: string): Promise<Record<string, unknown>> {
  return JSON.parse(recordOf(await Deno.readFile(executable)).text);
}

/** An executable whose permissions can be changed without compiling it again. */
export interface Changeable {
  readonly path: string;
  /**
   * Lets it use something else in place of one thing that it was compiled with, of all else what it was compiled with.
   *
   * @param access The class as the record names it: `allow_net`.
   * @param from What it was compiled with.
   * @param to What takes its place: as long, since nothing else in the file may move.
   */
  exchange(access: string, from: string, to: string): Promise<void>;
}

/**
 * Copies an executable.
 *
 * @param executable The executable.
 * @param path The copy.
 */
export async function changeable(executable: string, path: string): Promise<Changeable> {
  await Deno.copyFile(executable, path);
  const { text, at } = recordOf(await Deno.readFile(executable));
  assert.equal(JSON.stringify(JSON.parse(text)), text, "the record is as it was written");
  return {
    path,
    async exchange(access, from, to) {
      const record = JSON.parse(text);
      assert(record[access].includes(from), `${access} has no ${from}`);
      record[access] = record[access].map((one: string) => one === from ? to : one);
      const changed = new TextEncoder().encode(JSON.stringify(record));
      assert.equal(changed.length, text.length);
      using file = await Deno.open(path, { write: true });
      await file.seek(at, Deno.SeekMode.Start);
      for (let rest = changed; rest.length > 0;) rest = rest.subarray(await file.write(rest));
    },
  };
}

/** Where the record of permissions is. It is near the end, behind the runtime. */
function recordOf(bytes: Uint8Array): { readonly text: string; readonly at: number } {
  const text = new TextDecoder("latin1").decode(bytes);
  const found = [...text.matchAll(/"permissions":(\{[^{}]*"allow_all"[^{}]*\})/g)].at(-1);
  assert(found, "there is no record of permissions in it");
  return { text: found[1]!, at: found.index + found[0].length - found[1]!.length };
}
