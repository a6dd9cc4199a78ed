/**
 * `op build`: one executable of an operator.
 *
 * The Deno that runs `op` bundles the file and all it imports into one; the bundle is asked for the permissions it needs; the compiler makes
 * the executable of that one file, in a folder where there is nothing else. A bundle embeds 60 MB less than the modules it is made of.
 */
import { Buffer } from "node:buffer";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { run, runningDeno, type SourceFile, sourceFile } from "../deno.ts";
import { Failure } from "../exit_code.ts";
import { NO_IMAGE } from "../generate/generate.ts";
import { inspect, LOADING, type OperatorFacts } from "../inspect.ts";
import type { Io } from "../io.ts";
import { type ProjectFile, projectFile, type ProjectOptions } from "../project_file.ts";
import { VERSION } from "../version.ts";
import { ELF_HEADER_BYTES, machineOf } from "./elf.ts";

/** Options for {@linkcode build}. */
export interface BuildOptions extends ProjectOptions {
  /** The executable to write. */
  readonly output: string;
  /** The Deno that compiles. @default {DENO_COMPILER, else the one that runs this} */
  readonly compiler?: string | undefined;
  /** The machine it is for, as `deno compile --target` names it. @default {this machine} */
  readonly target?: string | undefined;
  /** Replace whatever is at `output`. */
  readonly force?: boolean | undefined;
}

/** Stands in every executable that is made here, so that only those are replaced unasked. */
const MARK = "Made by op build";

/**
 * Libraries that stay out of the executable. The Kubernetes client is only needed for kubeconfigs with a login by another program; it would
 * cost 20 MB and 36 ms at each start. Its second name is the one it has in a published SDK.
 */
const LEFT_OUT = ["@kubernetes/client-node", "npm:@kubernetes/client-node@*"];

/**
 * Builds an executable.
 *
 * @param file The file whose default export is the operator.
 * @param options Where to, and with what.
 * @param io The terminal and the shell.
 * @throws {Failure} If anything does not work out. The output is then as it was before.
 */
export async function build(file: string, options: BuildOptions, io: Io): Promise<void> {
  const source = await sourceFile(file, io);
  const output = resolve(io.cwd, options.output);
  if (options.force !== true) await checkReplaceable(output, options.output);
  const compiler = options.compiler ?? io.env("DENO_COMPILER") ?? runningDeno();
  const folder = await Deno.makeTempDir({ prefix: "op-build-" });
  try {
    const bundled = join(folder, "operator.js");
    await bundle(source, bundled, file);
    const project = await projectFile(source, options, io);
    const facts = await inspect(runningDeno(), pathToFileURL(bundled), folder, file, {
      project,
      install: { image: NO_IMAGE },
    });
    const executable = join(folder, "operator");
    const flags = await permissionFlags(bundled, project, file);
    await compile({ compiler, bundled, executable, flags, target: options.target, io });
    await checkMachine(executable, options.target, io);
    await moveInto(output, executable);
    await tell(facts, options.output, output, io);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function checkReplaceable(output: string, shown: string): Promise<void> {
  const info = await Deno.lstat(output).catch(() => undefined);
  if (info === undefined) return;
  if (!info.isFile) throw new Failure(`Cannot write "${shown}": that is no file; name another one with --output`);
  if (!Buffer.from(await Deno.readFile(output)).includes(MARK)) {
    throw new Failure(
      `Cannot write "${shown}": there is a file that op did not make; name another one, or say --force`,
    );
  }
}

async function bundle(source: SourceFile, bundled: string, shown: string): Promise<void> {
  const deno = runningDeno();
  await checkBundler(deno);
  const external = LEFT_OUT.map((name) => `--external=${name}`);
  const args = [
    "bundle",
    "--quiet",
    "--check",
    "--minify",
    "--platform=deno",
    ...external,
    `--output=${bundled}`,
    source.path,
  ];
  const { success, stderr } = await run(deno, args, { cwd: source.folder });
  if (!success) throw new Failure(`Cannot bundle "${shown}":\n${stderr.trim()}`);
  const code = await Deno.readTextFile(bundled);
  await Deno.writeTextFile(bundled, `// ${MARK} ${VERSION}\n${code}`);
  // The file's time is written into the executable: a fixed one makes equal bytes of equal code.
  await Deno.utime(bundled, 0, 0);
}

/** Earlier bundlers fail on some of the libraries that the SDK uses. */
async function checkBundler(deno: string): Promise<void> {
  const { stdout } = await run(deno, ["--version"]);
  const [, version, major, minor] = /^deno ((\d+)\.(\d+)\S*)/.exec(stdout) ?? [];
  if (Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 9)) return;
  throw new Failure(
    `Cannot bundle with Deno ${version}: 2.9 or newer is needed; run op with that, and name the Deno that compiles by --compiler`,
  );
}

/**
 * The flags as the program itself prints them: the SDK that is in it is the only one that knows how it turns permissions into flags. It is also
 * how we know that the executable will be the operator, and not a program that loads one and ends.
 */
async function permissionFlags(
  bundled: string,
  project: ProjectFile | undefined,
  shown: string,
): Promise<string[]> {
  // Ports and hosts are fixed when it is built: the file says which.
  const config = join(dirname(bundled), "operator.toml");
  if (project !== undefined) await Deno.writeTextFile(config, project.text);
  const told = project === undefined ? [] : ["--config", config];
  const args = ["run", "--quiet", "--no-config", "--no-lock", ...LOADING, bundled, "permissions", ...told];
  const { success, stdout, stderr } = await run(runningDeno(), args, { cwd: dirname(bundled) });
  const flags = stdout.split("\n").filter((line) => line !== "");
  if (
    success && flags.includes("--no-prompt") && flags.every((flag) => /^--(allow|deny|no)-[a-z]+(=.+)?$/.test(flag))
  ) return flags;
  throw new Failure(
    `Cannot build "${shown}": started as a program it does not run its operator; end the file with "if (import.meta.main) await op.main()"` +
      (stderr === "" ? "" : `\n${stderr.trim()}`),
  );
}

interface Compilation {
  readonly compiler: string;
  readonly bundled: string;
  readonly executable: string;
  readonly flags: readonly string[];
  readonly target: string | undefined;
  readonly io: Io;
}

async function compile({ compiler, bundled, executable, flags, target, io }: Compilation): Promise<void> {
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
  const env = denort === undefined ? {} : { DENORT_BIN: denort };
  const { success, stderr } = await run(compiler, args, { cwd: dirname(bundled), env });
  if (success) return;
  const reason = stderr.trim();
  if (denort === undefined && /denort|download/i.test(reason)) {
    const { stdout } = await run(compiler, ["--version"]);
    const version = stdout.split("\n", 1)[0]?.split(" ")[1] ?? "of the compiler";
    throw new Failure(
      `Cannot compile: the runtime "denort" of Deno ${version} could not be fetched; set DENORT_BIN to a file that is one, ` +
        `or name another Deno by --compiler\n${reason}`,
    );
  }
  throw new Failure(`Cannot compile with "${compiler}":\n${reason}`);
}

/** With DENORT_BIN set, Deno takes whatever runtime that is, also when it is for another machine than the target. */
async function checkMachine(executable: string, target: string | undefined, io: Io): Promise<void> {
  const wanted = target ?? Deno.build.target;
  if (!wanted.includes("linux")) return;
  const header = new Uint8Array(ELF_HEADER_BYTES);
  using file = await Deno.open(executable);
  await file.read(header);
  const machine = machineOf(header);
  if (machine !== undefined && wanted.startsWith(`${machine}-`)) return;
  const denort = io.env("DENORT_BIN");
  const wayOut = denort === undefined
    ? "name another compiler by --compiler"
    : `"${denort}" in DENORT_BIN is for another one`;
  throw new Failure(
    `Cannot compile for "${wanted}": the executable is for ${machine ?? "an unknown machine"}; ${wayOut}`,
  );
}

/** In one step, also from another file system: whoever starts the file meanwhile gets the old or the new one, whole. */
async function moveInto(output: string, executable: string): Promise<void> {
  await Deno.mkdir(dirname(output), { recursive: true });
  const beside = await Deno.makeTempFile({ dir: dirname(output), prefix: ".op-build-" });
  try {
    await Deno.copyFile(executable, beside);
    await Deno.chmod(beside, 0o755);
    await Deno.rename(beside, output);
  } catch (error) {
    await Deno.remove(beside).catch(() => {});
    throw error;
  }
}

async function tell(facts: OperatorFacts, shown: string, output: string, io: Io): Promise<void> {
  const { size } = await Deno.stat(output);
  io.out(`Made ${shown} (${(size / 1e6).toFixed(0)} MB) of operator "${facts.name}". It may:\n\n`);
  for (const { access, target, reason } of facts.permissions) io.out(`  ${access} ${target}: ${reason}\n`);
}
