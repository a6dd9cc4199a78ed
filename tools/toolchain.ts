/**
 * The oldest Deno we run on, and the runtime it compiles with, from npm alone: `deno run -A tools/toolchain.ts` fetches both and says where they are.
 *
 * `deno compile` downloads the runtime of its version (`denort`) from Deno's own site, which build systems often cannot reach. The package
 * `@vltpkg/cli-linux-x64` of 0.0.0-18 is a program made by `deno compile` of 2.4.2: its file `vlt` works as `DENORT_BIN` for that version.
 * The bytes of both files are pinned below, since they end up in what the tests run.
 */
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { join } from "node:path";

/** The oldest Deno on which the SDK and compiled operators run. */
export const FLOOR = "2.4.2";

/** Where the floor's programs are. */
export interface Toolchain {
  /** Path of Deno {@linkcode FLOOR}. */
  readonly deno: string;
  /** Path of its runtime, for `DENORT_BIN`. */
  readonly denort: string;
}

/** Why the toolchain cannot be had on this machine. */
export class NoToolchain extends Error {
  override name = "NoToolchain";
}

/** A file that is fetched, and what its bytes must be. */
export interface Part {
  readonly name: keyof Toolchain;
  readonly package: string;
  readonly version: string;
  readonly file: string;
  readonly sha256: string;
}

/** What is fetched, by machine. Only machines on which this was tried are listed. */
const PARTS: { readonly [machine: string]: readonly Part[] } = {
  "linux-x86_64": [
    {
      name: "deno",
      package: "@deno/linux-x64-glibc",
      version: FLOOR,
      file: "deno",
      sha256: "1d6580e813252f6b27a41d97d2e3725a408baa2e765a86e45f65b228d3e93ad6",
    },
    {
      name: "denort",
      package: "@vltpkg/cli-linux-x64",
      version: "0.0.0-18",
      file: "vlt",
      sha256: "b38c4d77b5394feb3660d20f9d0ebabd01276534f139d579efd5d5f55c2a42bc",
    },
  ],
};

const FOLDER = fileURLToPath(new URL("../.cache/toolchain/", import.meta.url));

/** Options for {@linkcode toolchain}. */
export interface ToolchainOptions {
  /** Where the programs are kept. @default {".cache/toolchain" of the repository} */
  readonly folder?: string;
  /** Who fetches them: npm where there is one, Deno itself otherwise. */
  readonly client?: "npm" | "deno";
}

/**
 * Deno {@linkcode FLOOR} and its runtime: fetched once into the repository's `.cache`, found there afterwards.
 *
 * @param options Additional options.
 * @returns The two paths.
 * @throws {NoToolchain} If there is none for this machine, it cannot be fetched, or its bytes are not those expected.
 */
export async function toolchain(options: ToolchainOptions = {}): Promise<Toolchain> {
  const { folder = FOLDER } = options;
  const machine = `${Deno.build.os}-${Deno.build.arch}`;
  const parts = PARTS[machine];
  if (parts === undefined) {
    throw new NoToolchain(
      `Cannot get Deno ${FLOOR} for "${machine}": only ${Object.keys(PARTS).join(", ")} is known to tools/toolchain.ts`,
    );
  }
  const place = join(folder, FLOOR);
  const found: Toolchain = { deno: join(place, "deno"), denort: join(place, "denort") };
  if (await exists(place)) return found;
  await Deno.mkdir(folder, { recursive: true });
  // Everything is made beside its place and moved there in one step, so that a broken download or a second run at the same time leaves nothing half done.
  const beside = await Deno.makeTempDir({ dir: folder, prefix: ".fetch-" });
  try {
    await fetchPackages(parts, beside, options.client ?? (await runs("npm") ? "npm" : "deno"));
    const ready = join(beside, "ready");
    await Deno.mkdir(ready);
    for (const part of parts) {
      const file = join(ready, part.name);
      await Deno.rename(join(beside, "node_modules", part.package, part.file), file);
      await verify(part, file);
      await Deno.chmod(file, 0o755);
    }
    await checkVersion(join(ready, "deno"));
    await Deno.rename(ready, place).catch(async (error) => {
      if (!(await exists(place))) throw error;
    });
  } finally {
    await Deno.remove(beside, { recursive: true });
  }
  return found;
}

/** Both clients leave the packages unpacked in `node_modules`; neither runs a package's scripts. */
async function fetchPackages(parts: readonly Part[], folder: string, client: "npm" | "deno"): Promise<void> {
  const dependencies = Object.fromEntries(parts.map((part) => [part.package, part.version]));
  await Deno.writeTextFile(join(folder, "package.json"), JSON.stringify({ private: true, dependencies }));
  const [command, args] = client === "npm"
    ? ["npm", [
      "install",
      "--ignore-scripts",
      "--no-package-lock",
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
    ]] as const
    : [Deno.execPath(), ["install", "--node-modules-dir=auto", "--no-lock", "--quiet"]] as const;
  const { success, stderr } = await new Deno.Command(command, { args: [...args], cwd: folder, stdin: "null" }).output();
  if (!success) {
    throw new NoToolchain(`Cannot fetch Deno ${FLOOR} with ${client}: ${new TextDecoder().decode(stderr).trim()}`);
  }
}

/** Refuses a file whose bytes are not those of the part. */
export async function verify(part: Part, file: string): Promise<void> {
  const hash = createHash("sha256").update(await Deno.readFile(file)).digest("hex");
  if (hash !== part.sha256) {
    throw new NoToolchain(
      `Cannot use "${part.file}" of ${part.package}@${part.version}: its SHA-256 is ${hash}, expected ${part.sha256}`,
    );
  }
}

async function checkVersion(deno: string): Promise<void> {
  const { stdout } = await new Deno.Command(deno, { args: ["--version"] }).output();
  const line = new TextDecoder().decode(stdout).split("\n", 1)[0] ?? "";
  if (!line.startsWith(`deno ${FLOOR} `)) {
    throw new NoToolchain(`Cannot use the Deno that was fetched: it says "${line}"`);
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

async function runs(command: string): Promise<boolean> {
  try {
    return (await new Deno.Command(command, { args: ["--version"], stdout: "null", stderr: "null" }).output()).success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

if (import.meta.main) {
  const { deno, denort } = await toolchain();
  console.log(`deno   ${deno}\ndenort ${denort}`);
}
