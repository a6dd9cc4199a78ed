/**
 * The build stages of this repository's Dockerfile, which build images of the example operator and
 * of `op` from source.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { VERSION } from "../../cli/version.ts";
import { FLOOR, toolchain } from "../../tools/toolchain.ts";
import { BASE, type ImageTools, imageTools, NEEDS_ROOT, type UnpackedImage } from "./_image_tools.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const DENO = "localhost/deno:test";

/**
 * Replaces the Deno image: a shell, and variables that name the programs. The programs are mounted,
 * since each layer would copy them.
 */
const CONTAINERFILE = `ARG BASE
FROM $BASE
COPY sh /bin/sh
COPY tmp /tmp
ENV PATH=/programs:/bin DENO_DIR=/packages DENO_COMPILER=/programs/compiler DENORT_BIN=/programs/denort
`;

/**
 * Builds the image, and a folder with its programs: this Deno, which bundles, the oldest supported
 * one, which compiles, and its runtime. Returns the folder.
 */
async function denoImage(tools: ImageTools, folder: string): Promise<string> {
  const { deno, denort } = await toolchain();
  const programs = join(folder, "programs");
  const context = join(folder, "context");
  await Deno.mkdir(programs);
  await Deno.mkdir(join(context, "tmp"), { recursive: true });
  await Deno.writeTextFile(join(context, "tmp/.keep"), "");
  await Deno.copyFile(await Deno.realPath("/bin/sh"), join(context, "sh"));
  const files = { deno: Deno.execPath(), compiler: deno, denort };
  for (const [name, path] of Object.entries(files)) {
    await Deno.copyFile(path, join(programs, name));
    await Deno.chmod(join(programs, name), 0o755);
  }
  await Deno.writeTextFile(join(context, "Containerfile"), CONTAINERFILE);
  await tools.build(DENO, context);
  return programs;
}

/** Runs an image's program in its own root folder, with /proc as in a container. */
async function runImage({ root, entrypoint }: UnpackedImage, ...args: string[]): Promise<string> {
  await Deno.mkdir(join(root, "proc"), { recursive: true });
  const script = 'mount -t proc proc "$0/proc" && exec chroot --userspec=65532:65532 "$0" "$@"';
  const command = ["--mount", "--pid", "--fork", "sh", "-c", script, root, ...entrypoint, ...args];
  const { code, stdout, stderr } = await new Deno.Command("unshare", { args: command, stdin: "null" }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

Deno.test(
  "the Dockerfile builds images of the example operator and op from source, which run as an unprivileged user",
  NEEDS_ROOT,
  async (t) => {
    await using owned = new AsyncDisposableStack();
    const folder = await Deno.makeTempDir();
    owned.defer(() => Deno.remove(folder, { recursive: true }));
    const tools = owned.use(await imageTools());
    const programs = await denoImage(tools, folder);
    const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
    const { denoDir } = JSON.parse(new TextDecoder().decode(stdout)) as { denoDir: string };
    // Uses packages from this machine's cache.
    const options = [
      ...["--volume", `${denoDir}:/packages`, "--volume", `${programs}:/programs:ro`],
      ...["--build-arg", `DENO=${DENO}`, "--build-arg", `DENO_ALONE=${BASE}`],
    ];

    // The last stage is the default.
    const images = [
      { name: "operator", target: [], command: "version", output: `website-operator 0.1.0 (deno ${FLOOR})\n` },
      { name: "op", target: ["--target", "op"], command: "--version", output: `op ${VERSION}\n` },
    ];
    for (const { name, target, command, output } of images) {
      await t.step(`the image of ${name} runs its program`, async () => {
        await tools.build(`${name}:1`, ROOT, ...options, ...target);
        const image = await tools.unpack(`${name}:1`);
        assert.equal(image.user, "65532:65532");
        assert.equal(await runImage(image, command), output);
      });
    }
  },
);
