/** From one file to an executable, for a machine. */
import { dirname } from "node:path";
import { run } from "../deno.ts";
import { Failure, UsageError } from "../exit_code.ts";
import type { Io } from "../io.ts";
import { ELF_HEADER_BYTES, type Machine, machineOf } from "./elf.ts";

/** What is compiled, and how. */
export interface Compilation {
  readonly compiler: string;
  /** The one file. */
  readonly bundled: string;
  readonly executable: string;
  /** Flags of permissions. */
  readonly flags: readonly string[];
  /** As `deno compile --target` names it; absent for this machine. */
  readonly target: string | undefined;
  /** Whether it sends what it has to OpenTelemetry. */
  readonly telemetry: boolean;
}

/** Machines by the names that people and image builders have for them. */
const MACHINES: Readonly<Record<string, Machine>> = {
  x86_64: "x86_64",
  amd64: "x86_64",
  aarch64: "aarch64",
  arm64: "aarch64",
};

/**
 * The target that a user means: `aarch64` and `arm64` are Linux on that machine.
 *
 * @param said What the user said; absent for this machine.
 * @throws {UsageError} If there is no such target.
 */
export function targetOf(said: string | undefined): string | undefined {
  if (said === undefined) return undefined;
  const machine = MACHINES[said];
  if (machine !== undefined) return `${machine}-unknown-linux-gnu`;
  if (/^[a-z0-9_]+-[a-z]+-[a-z]+(-[a-z]+)?$/.test(said)) return said;
  throw new UsageError(
    `Cannot compile for "${said}": name a machine, ${
      Object.keys(MACHINES).join(", ")
    }, or a target of Deno such as aarch64-unknown-linux-gnu`,
  );
}

/**
 * Compiles, and looks whether the executable is for the machine that was asked for.
 *
 * @param compilation What and how.
 * @param io The terminal and the shell.
 * @throws {Failure} If it cannot be compiled, or the runtime is for another machine.
 */
export async function compile(compilation: Compilation, io: Io): Promise<void> {
  const { compiler, bundled, executable, flags, target, telemetry } = compilation;
  const args = [
    "compile",
    "--quiet",
    "--no-config",
    "--no-lock",
    "--no-check",
    // The cache would go to /tmp, which a container that is read-only does not have.
    "--no-code-cache",
    // V8 lets its young generation grow to 16 MB a space, and a list of thousands of objects fills it: with 2 MB the peak of 5,000 objects is 119 MB in
    // place of 165, and no slower (benches/operators.ts).
    "--v8-flags=--max-semi-space-size=2",
    ...flags,
    ...(target === undefined ? [] : [`--target=${target}`]),
    `--output=${executable}`,
    bundled,
  ];
  const denort = io.env("DENORT_BIN");
  const env = {
    // The compiler's own OpenTelemetry becomes the executable's: whoever runs it later cannot turn it on or off.
    OTEL_DENO: String(telemetry),
    ...(denort === undefined ? {} : { DENORT_BIN: denort }),
  };
  const { success, stderr } = await run(compiler, args, { cwd: dirname(bundled), env });
  if (success) return await checkMachine(executable, target, denort);
  const reason = stderr.trim().replace(/\n+Stack backtrace:[^]*$/, "");
  if (denort === undefined && /denort|download/i.test(reason)) {
    const version = await versionOf(compiler);
    throw new Failure(
      `Cannot compile: the runtime "denort" of Deno ${version} could not be fetched; set DENORT_BIN to a file that is one, ` +
        `or name another Deno by --compiler\n${reason}`,
    );
  }
  throw new Failure(`Cannot compile with "${compiler}":\n${reason}`);
}

/**
 * The version of a Deno, as it says it.
 *
 * @param deno The program.
 */
export async function versionOf(deno: string): Promise<string> {
  const { stdout } = await run(deno, ["--version"]);
  return /^deno (\S+)/.exec(stdout)?.[1] ?? "unknown";
}

/** With DENORT_BIN set, Deno takes whatever runtime that is, also when it is for another machine than the target. */
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
  const wayOut = denort === undefined
    ? "name another compiler by --compiler"
    : `"${denort}" in DENORT_BIN is for another one`;
  throw new Failure(
    `Cannot compile for "${wanted}": the executable is for ${machine ?? "an unknown machine"}; ${wayOut}`,
  );
}
