/**
 * Images without a daemon or a registry: buildah, and a base image of Debian packages.
 *
 * The base replaces `gcr.io/distroless/cc-debian12`, which has the same packages: libc, libgcc and
 * certificates.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Tools that build images. Disposing of them removes all images. */
export interface ImageTools extends AsyncDisposable {
  /** The table `[build.builder]` of an `operator.toml` that builds images with these tools. */
  readonly toml: string;
  /** Builds an image on the same base from a folder. */
  build(image: string, folder: string, ...args: string[]): Promise<void>;
  /** Unpacks an image's root folder for a container, and reads how its program is started. */
  unpack(image: string): Promise<UnpackedImage>;
}

/** An unpacked image. */
export interface UnpackedImage {
  readonly root: string;
  /** User and group. */
  readonly user: string;
  readonly entrypoint: readonly string[];
  readonly env: readonly string[];
}

/** An image with libc, libgcc and certificates. */
export const BASE = "localhost/base:nonroot";
const PACKAGES = ["libc6", "libgcc-s1", "ca-certificates"];
const CACHE = fileURLToPath(new URL("../../.cache/debian/", import.meta.url));

/**
 * Options of tests with containers, whose namespaces and mounts require root: they are skipped for
 * other users, except in CI.
 */
export const NEEDS_ROOT: { readonly ignore: boolean } = { ignore: Deno.uid() !== 0 && Deno.env.get("CI") !== "true" };

/** Returns the tools. Installs missing ones if this process is root, as in CI. */
export async function imageTools(): Promise<ImageTools> {
  await ensureInstalled("buildah");
  const folder = await Deno.makeTempDir({ prefix: "images-" });
  // Isolation and storage that need neither a daemon nor a kernel that allows nested containers.
  const options = ["--root", join(folder, "store"), "--runroot", join(folder, "run"), "--storage-driver", "vfs"];
  const buildah = (...args: string[]) => output("buildah", [...options, ...args], folder);
  await Deno.mkdir(join(folder, "base"));
  for (const file of await debianPackages()) {
    await output("dpkg-deb", ["--extract", file, join(folder, "base")], folder);
  }
  // On Debian, these links to /usr belong to another package.
  for (const name of ["lib", "lib64"]) {
    const exists = await Deno.lstat(join(folder, "base", name)).then(() => true, () => false);
    if (!exists) await Deno.symlink(`usr/${name}`, join(folder, "base", name));
  }
  await Deno.writeTextFile(join(folder, "Containerfile"), "FROM scratch\nCOPY base /\n");
  const build = ["build", "--isolation", "chroot", "--quiet", "--tag"];
  await buildah(...build, BASE, folder);
  const args = [...options, "build", "--isolation", "chroot", "--build-arg", `BASE=${BASE}`, "--tag", "$IMG", "."];
  return {
    async build(image, context, ...more) {
      await buildah(...build, image, "--build-arg", `BASE=${BASE}`, ...more, context);
    },
    toml: `[build.builder]\nbinary = "buildah"\nargs = ${JSON.stringify(args)}\n`,
    async unpack(image) {
      const { OCIv1: { config } } = JSON.parse(await buildah("inspect", "--type", "image", image));
      const container = (await buildah("from", image)).trim();
      const root = (await buildah("mount", container)).trim();
      return { root, user: config.User, entrypoint: config.Entrypoint, env: config.Env };
    },
    async [Symbol.asyncDispose]() {
      await buildah("unmount", "--all");
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** Returns the paths of the base's packages, which are downloaded once. */
async function debianPackages(): Promise<string[]> {
  await Deno.mkdir(CACHE, { recursive: true });
  const files = () =>
    [...Deno.readDirSync(CACHE)].map(({ name }) => join(CACHE, name)).filter((path) => path.endsWith(".deb"));
  if (files().length >= PACKAGES.length) return files();
  // Downloaded into a temporary folder, and moved when complete.
  const temporary = await Deno.makeTempDir({ dir: CACHE });
  try {
    const download = () => output("apt-get", ["download", "-o", "APT::Sandbox::User=root", ...PACKAGES], temporary);
    await download().catch(async () => {
      await output("apt-get", ["update"], temporary);
      await download();
    });
    for (const { name } of Deno.readDirSync(temporary)) await Deno.rename(join(temporary, name), join(CACHE, name));
  } finally {
    await Deno.remove(temporary, { recursive: true });
  }
  return files();
}

/** Installs a program if it is missing. */
async function ensureInstalled(program: string): Promise<void> {
  if (await output(program, ["--version"], "/").then(() => true, () => false)) return;
  assert(
    Deno.uid() === 0,
    `"${program}" is not installed, and only root can install it. Run: apt-get install ${program}`,
  );
  const install = ["install", "--yes", "--no-install-recommends", program];
  await output("apt-get", ["update"], "/");
  await output("apt-get", install, "/", { DEBIAN_FRONTEND: "noninteractive" });
}

async function output(program: string, args: string[], cwd: string, env: Record<string, string> = {}): Promise<string> {
  const command = new Deno.Command(program, { args, cwd, env, stdin: "null" });
  const { success, stdout, stderr } = await command.output();
  const decoder = new TextDecoder();
  assert(success, `${[program, ...args].join(" ")} failed:\n${decoder.decode(stderr)}`);
  return decoder.decode(stdout);
}
