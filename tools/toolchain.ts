/**
 * Fetches the oldest supported Deno and its runtime for compiled programs from npm: `deno run -A
 * tools/toolchain.ts` prints the paths of both.
 *
 * `deno compile` downloads the runtime of its version (`denort`) from Deno's own site, which build
 * systems often cannot reach. Version 0.0.0-18 of the package `@vltpkg/cli-linux-x64` was built by
 * `deno compile` 2.4.2, so its file `vlt` works as `DENORT_BIN` for that version. The checksums of
 * both files are pinned below, because the tests run them.
 */
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { join } from "node:path";

/** The oldest Deno on which the SDK and compiled operators run. */
export const FLOOR = "2.4.2";

/** The paths of the programs of version {@linkcode FLOOR}. */
export interface Toolchain {
  /** Path of Deno {@linkcode FLOOR}. */
  readonly deno: string;
  /** Path of its runtime, for `DENORT_BIN`. */
  readonly denort: string;
}

/** The error when the toolchain is not available on this machine. */
export class NoToolchain extends Error {
  override name = "NoToolchain";
}

/** A file to fetch, with its checksum. */
export interface Part {
  readonly name: keyof Toolchain;
  readonly package: string;
  readonly version: string;
  readonly file: string;
  readonly sha256: string;
}

/** The files to fetch, by platform. Only tested platforms are listed. */
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
  /** Folder of the programs. @default {".cache/toolchain" of the repository} */
  readonly folder?: string;
  /** The package client. @default {"npm" if it is installed, otherwise "deno"} */
  readonly client?: "npm" | "deno";
}

/**
 * Returns Deno {@linkcode FLOOR} and its runtime. The first call fetches them into the repository's
 * `.cache`.
 *
 * @param options Additional options.
 * @returns The two paths.
 * @throws {NoToolchain} If the platform is not supported, the packages cannot be fetched, or a
 *   checksum is wrong.
 */
export async function toolchain(options: ToolchainOptions = {}): Promise<Toolchain> {
  const { folder = FOLDER } = options;
  const machine = `${Deno.build.os}-${Deno.build.arch}`;
  const parts = PARTS[machine];
  if (parts === undefined) {
    throw new NoToolchain(
      `Cannot get Deno ${FLOOR} for "${machine}": available machines are ${Object.keys(PARTS).join(", ")}`,
    );
  }
  const target = join(folder, FLOOR);
  const found: Toolchain = { deno: join(target, "deno"), denort: join(target, "denort") };
  if (await exists(target)) return found;
  await Deno.mkdir(folder, { recursive: true });
  // The files are prepared in a temporary folder and moved in one step, so that an interrupted
  // download or a concurrent process never leaves an incomplete folder.
  const temporary = await Deno.makeTempDir({ dir: folder, prefix: ".fetch-" });
  try {
    await fetchPackages(parts, temporary, options.client ?? (await runs("npm") ? "npm" : "deno"));
    const ready = join(temporary, "ready");
    await Deno.mkdir(ready);
    for (const part of parts) {
      const file = join(ready, part.name);
      await Deno.rename(join(temporary, "node_modules", part.package, part.file), file);
      await verify(part, file);
      await Deno.chmod(file, 0o755);
    }
    await checkVersion(join(ready, "deno"));
    await Deno.rename(ready, target).catch(async (error) => {
      if (!(await exists(target))) throw error;
    });
  } finally {
    await Deno.remove(temporary, { recursive: true });
  }
  return found;
}

/** Fetches packages into `node_modules`. Neither client runs the packages' scripts. */
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

/**
 * Verifies the checksum of a file.
 *
 * @throws {NoToolchain} If the SHA-256 is not the expected one.
 */
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
    throw new NoToolchain(`Cannot use the downloaded Deno: its version is "${line}", expected ${FLOOR}`);
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
