/**
 * `op build`: compiles an operator into an executable, and writes its source map and its bill of
 * materials next to it. With `--image`, it also builds the container image.
 *
 * The Deno that runs `op` bundles the file with its imports, and the bundle prints the sandbox
 * permissions that it needs. The compiler then builds the executable in a folder with only the
 * bundle: an executable of a bundle is 60 MB smaller than one of its modules.
 */
import { createHash } from "node:crypto";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { run, runningDeno, sourceFile } from "../deno.ts";
import { Failure } from "../exit_code.ts";
import { replaceFiles } from "../atomic_files.ts";
import { NO_IMAGE } from "../generate/generate.ts";
import { inspect, LOADING, type OperatorFacts } from "../inspect.ts";
import type { Io } from "../io.ts";
import { step } from "../progress.ts";
import { temporaryFolder } from "../temporary_folder.ts";
import { commitFor, type ProjectFile, projectFile, type ProjectOptions } from "../project_file.ts";
import { VERSION } from "../version.ts";
import { type Bundle, bundle, MARK } from "./bundle.ts";
import { mapFile } from "./source_map.ts";
import { compile, targetOf, versionOf } from "./compile.ts";
import { buildImage } from "./image.ts";
import { type Artifact, checkReplaceable } from "./artifact.ts";
import { sbom } from "./sbom.ts";
import { placesIn, traced } from "../trace/trace.ts";

/** Options for {@linkcode build}. */
export interface BuildOptions extends ProjectOptions {
  /** The executable to write. @default {`dist/NAME`} */
  readonly output?: string | undefined;
  /** The Deno that compiles. @default {DENO_COMPILER, otherwise the Deno that runs `op`} */
  readonly compiler?: string | undefined;
  /**
   * The target: `x86_64`, `aarch64` or a name of `deno compile --target`. @default {this machine}
   */
  readonly target?: string | undefined;
  /** Also build the container image, with the builder in `operator.toml`. */
  readonly image?: boolean | undefined;
  /**
   * Export OpenTelemetry traces. @default {`build.telemetry` of `operator.toml`, otherwise false}
   */
  readonly telemetry?: boolean | undefined;
  /** Overwrite any file at `output`. */
  readonly force?: boolean | undefined;
}

/**
 * Builds an executable.
 *
 * @param file The file whose default export is the operator, in a project or alone.
 * @param options The output, the target and the compiler.
 * @param io The terminal and the shell.
 * @throws {Failure} If a step fails. The output is unchanged then, unless the image builder failed.
 */
export async function build(file: string, options: BuildOptions, io: Io): Promise<void> {
  const target = targetOf(options.target);
  const source = await sourceFile(file, io);
  const project = await projectFile(source, options, io);
  if (options.output !== undefined) await checkOutputs(options.output, options, io);
  const compiler = options.compiler ?? io.env("DENO_COMPILER") ?? runningDeno();
  using temporary = temporaryFolder("op-build-", io);
  const { path: folder } = temporary;
  const commit = options.image === true ? await commitFor(project, source) : undefined;
  const install = options.image !== true ? { image: NO_IMAGE } : commit === undefined ? {} : { commit };
  step(`Checking and bundling ${file}`, io);
  const bundled = await bundle(source, folder, file);
  const facts = await inspect(pathToFileURL(bundled.path), folder, file, io, {
    project,
    install,
    traced: (text) => traced(text, placesIn(mapFile(bundled.maps))),
  });
  const flags = await sandboxFlags(bundled.path, project, file);
  const output = options.output ?? join("dist", facts.name);
  if (options.output === undefined) await checkOutputs(output, options, io);
  const executable = join(folder, "operator");
  const telemetry = options.telemetry ?? facts.telemetry;
  step(`Compiling for ${target ?? "this machine"}`, io);
  await compile({ compiler, bundled: bundled.path, executable, flags, target, telemetry }, io);
  step("Writing the bill of materials", io);
  const bill = await billOf(executable, bundled, facts, await versionOf(compiler));
  const places = artifacts(output);
  const path = (artifact: Artifact) => resolve(io.cwd, artifact.path);
  await replaceFiles(
    [
      { path: path(places.map), content: JSON.stringify({ ...mapFile(bundled.maps), x_built_by: "op build" }) },
      { path: path(places.bill), content: `${JSON.stringify(bill, null, 2)}\n` },
      { path: path(places.executable), content: await Deno.readFile(executable), mode: 0o755 },
    ],
    [],
    io,
  );
  report(facts, output, (await Deno.stat(executable)).size, io);
  if (options.image === true) await buildImage(facts, source.folder, io);
}

/**
 * Returns the files that a build writes. Each has a mark, and only files with it are overwritten by
 * default.
 */
function artifacts(output: string) {
  return {
    executable: { path: output, mark: MARK },
    map: { path: `${output}.map`, mark: '"x_built_by":"op build"' },
    bill: { path: `${output}.cdx.json`, mark: '"bomFormat": "CycloneDX"' },
  };
}

async function checkOutputs(output: string, { force = false }: BuildOptions, io: Io): Promise<void> {
  for (const artifact of Object.values(artifacts(output))) await checkReplaceable(artifact, force, io);
}

async function billOf(executable: string, { maps, lock }: Bundle, facts: OperatorFacts, runtime: string) {
  const sha256 = createHash("sha256").update(await Deno.readFile(executable)).digest("hex");
  const sources = [...maps.values()].flatMap((map) => map.sources);
  return sbom({ operator: facts, sha256, lock, sources, runtime, tool: VERSION });
}

/**
 * The maximum time for the program to print its flags, in milliseconds. A program that does not run
 * its operator may never end.
 */
const FLAGS_TIMEOUT = 60_000;

/**
 * Returns Deno's flags as the program prints them, because its own SDK converts sandbox permissions
 * to flags. This also shows that the executable will run the operator, instead of only loading it.
 */
async function sandboxFlags(
  bundled: string,
  project: ProjectFile | undefined,
  shown: string,
): Promise<string[]> {
  // The build fixes ports and hosts, which the settings file may change.
  const config = join(dirname(bundled), "operator.toml");
  if (project !== undefined) await Deno.writeTextFile(config, project.text);
  const settings = project === undefined ? [] : ["--config", config];
  const args = ["run", "--quiet", "--no-config", "--no-lock", ...LOADING, bundled, "sandbox", ...settings];
  const { success, stdout, stderr } = await run(runningDeno(), args, { cwd: dirname(bundled), timeout: FLAGS_TIMEOUT });
  const flags = stdout.split("\n").filter((line) => line !== "");
  if (
    success && flags.includes("--no-prompt") && flags.every((flag) => /^--(allow|deny|no)-[a-z]+(=.+)?$/.test(flag))
  ) return flags;
  throw new Failure(
    `Cannot build "${shown}": it does not run its operator when it is started as a program. Add "if (import.meta.main) await op.main()" at its end.` +
      (stderr === "" ? "" : `\n${stderr.trim()}`),
  );
}

function report(facts: OperatorFacts, shown: string, size: number, io: Io): void {
  io.out(`Built ${shown} (${(size / 1e6).toFixed(0)} MB) from operator "${facts.name}". Sandbox permissions:\n\n`);
  for (const { permission, target, reason } of facts.sandbox) io.out(`  ${permission} ${target}: ${reason}\n`);
  const { map, bill } = artifacts(shown);
  io.out(`\nAlso wrote ${map.path} (source map for op trace) and ${bill.path} (bill of materials)\n`);
}
