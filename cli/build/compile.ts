/** Compiles a bundle into an executable. */
import { dirname } from "node:path";
import { isRuntimeMissing, run } from "../deno.ts";
import { Failure, UsageError } from "../exit_code.ts";
import type { Io } from "../io.ts";
import { ELF_HEADER_BYTES, type Machine, machineOf } from "./elf.ts";

/** Options for {@linkcode compile}. */
export interface Compilation {
  readonly compiler: string;
  /** The file that is run. */
  readonly bundled: string;
  readonly executable: string;
  /** Flags for the sandbox permissions. */
  readonly flags: readonly string[];
  /** A name of `deno compile --target`, or `undefined` for this machine. */
  readonly target: string | undefined;
  /** Whether the executable exports OpenTelemetry data. */
  readonly telemetry: boolean;
}

/** The number of characters that are searched again, because two chunks may split a user agent. */
const USER_AGENT_LENGTH = 20;

/** Names of machines that users and image builders use. */
const MACHINES: Readonly<Record<string, Machine>> = {
  x86_64: "x86_64",
  amd64: "x86_64",
  aarch64: "aarch64",
  arm64: "aarch64",
};

/**
 * Returns a target of Deno: `aarch64` and `arm64` are Linux on that machine.
 *
 * @param name The name of a machine or a target, or `undefined` for this machine.
 * @throws {UsageError} If the name is neither.
 */
export function targetOf(name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  const machine = MACHINES[name];
  if (machine !== undefined) return `${machine}-unknown-linux-gnu`;
  if (/^[a-z0-9_]+-[a-z]+-[a-z]+(-[a-z]+)?$/.test(name)) return name;
  throw new UsageError(
    `Cannot compile for "${name}": unknown machine. Use ${
      Object.keys(MACHINES).join(", ")
    }, or a target of Deno such as aarch64-unknown-linux-gnu.`,
  );
}

/**
 * Compiles an executable and checks that it is for the requested machine.
 *
 * @param compilation The options.
 * @param io The terminal and the shell.
 * @throws {Failure} If it cannot be compiled, or Deno's runtime is for another machine or of
 *   another version.
 */
export async function compile(compilation: Compilation, io: Io): Promise<void> {
  const { compiler, bundled, executable, flags, target, telemetry } = compilation;
  const args = [
    "compile",
    "--quiet",
    "--no-config",
    "--no-lock",
    "--no-check",
    // The cache would be in /tmp, which a read-only container does not have.
    "--no-code-cache",
    // V8 lets a space of its young generation grow to 16 MB, which a list of thousands of objects
    // fills. With 2 MB, the peak for 5,000 objects is 119 MB instead of 165 MB at the same speed
    // (benches/operators.ts).
    "--v8-flags=--max-semi-space-size=2",
    ...flags,
    ...(target === undefined ? [] : [`--target=${target}`]),
    `--output=${executable}`,
    bundled,
  ];
  const denort = io.env("DENORT_BIN");
  if (denort !== undefined) await checkVersion(denort, compiler);
  const env = {
    // The setting of the compiler becomes that of the executable, which cannot change it later.
    OTEL_DENO: String(telemetry),
    ...(denort === undefined ? {} : { DENORT_BIN: denort }),
  };
  const { success, stderr } = await run(compiler, args, { cwd: dirname(bundled), env });
  if (success) return await checkMachine(executable, target, denort);
  const reason = stderr.trim().replace(/\n+Stack backtrace:[^]*$/, "");
  if (denort === undefined && isRuntimeMissing(reason)) {
    const version = await versionOf(compiler);
    throw new Failure(
      `Cannot compile: the runtime "denort" of Deno ${version} could not be downloaded. Set DENORT_BIN to its file, ` +
        `or name another Deno with --compiler.\n${reason}`,
    );
  }
  throw new Failure(`Cannot compile with "${compiler}":\n${reason}`);
}

/**
 * Returns the version of a Deno.
 *
 * @param deno The program.
 */
export async function versionOf(deno: string): Promise<string> {
  const { stdout } = await run(deno, ["--version"]);
  return /^deno (\S+)/.exec(stdout)?.[1] ?? "unknown";
}

/**
 * Checks that a runtime belongs to the Deno that compiles. Deno uses any file, and the executable
 * of another version does not start. A file that names no version is not checked.
 */
async function checkVersion(denort: string, compiler: string): Promise<void> {
  const [version, versions] = await Promise.all([versionOf(compiler), versionsIn(denort)]);
  // Digits may follow the version in the file.
  if (versions.size === 0 || [...versions].some((one) => one.startsWith(version))) return;
  throw new Failure(
    `Cannot compile with DENORT_BIN "${denort}": it is the runtime of Deno ${[...versions].join(" or ")}, ` +
      `but Deno ${version} compiles. Set DENO_COMPILER to the Deno that the runtime belongs to.`,
  );
}

/**
 * Returns the versions in the user agents in a file, such as `Deno/2.9.6`. The runtime contains its
 * own.
 */
async function versionsIn(file: string): Promise<ReadonlySet<string>> {
  const versions = new Set<string>();
  let end = "";
  using opened = await Deno.open(file).catch((error) => {
    throw new Failure(`Cannot read DENORT_BIN "${file}": ${error.message}`);
  });
  // Latin-1 maps each byte to one character, so that a version is found between other bytes.
  for await (const text of opened.readable.pipeThrough(new TextDecoderStream("latin1"))) {
    const searched = end + text;
    for (const [, version = ""] of searched.matchAll(/Deno\/(2\.\d+\.\d+)/g)) versions.add(version);
    end = searched.slice(-USER_AGENT_LENGTH);
  }
  return versions;
}

/**
 * Checks the machine of an executable. Deno uses any runtime in DENORT_BIN, even one for another
 * machine.
 */
async function checkMachine(
  executable: string,
  target: string | undefined,
  denort: string | undefined,
): Promise<void> {
  const wanted = target ?? Deno.build.target;
  if (!wanted.includes("linux")) return;
  const header = new Uint8Array(ELF_HEADER_BYTES);
  using file = await Deno.open(executable);
  await file.read(header);
  const machine = machineOf(header);
  if (machine !== undefined && wanted.startsWith(`${machine}-`)) return;
  const advice = denort === undefined
    ? "Name another Deno with --compiler."
    : `DENORT_BIN "${denort}" is for another machine.`;
  throw new Failure(
    `Cannot compile for "${wanted}": the executable is for ${machine ?? "an unknown machine"}. ${advice}`,
  );
}
