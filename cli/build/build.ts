/**
 * `op build`: one executable of an operator, its source map and its bill of materials beside it, and its image where that is asked for.
 *
 * The Deno that runs `op` bundles the file and all it imports; the bundle is asked for the permissions it needs; the compiler makes the executable of it, in a
 * folder where there is nothing else. A bundle embeds 60 MB less than the modules it is made of.
 */
import { createHash } from "node:crypto";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { run, runningDeno, sourceFile } from "../deno.ts";
import { Failure } from "../exit_code.ts";
import { replaceTogether } from "../files_together.ts";
import { NO_IMAGE } from "../generate/generate.ts";
import { inspect, LOADING, type OperatorFacts } from "../inspect.ts";
import type { Io } from "../io.ts";
import { step } from "../progress.ts";
import { temporaryFolder } from "../temporary_folder.ts";
import { commitFor, type ProjectFile, projectFile, type ProjectOptions } from "../project_file.ts";
import { VERSION } from "../version.ts";
import { type Bundle, bundle } from "./bundle.ts";
import { mapFile } from "./source_map.ts";
import { compile, targetOf, versionOf } from "./compile.ts";
import { buildImage } from "./image.ts";
import { type Artifact, checkReplaceable } from "./place.ts";
import { sbom } from "./sbom.ts";
import { placesIn, traced } from "../trace/trace.ts";

/** Options for {@linkcode build}. */
export interface BuildOptions extends ProjectOptions {
  /** The executable to write. @default {`dist/` and the operator's name} */
  readonly output?: string | undefined;
  /** The Deno that compiles. @default {DENO_COMPILER, else the one that runs this} */
  readonly compiler?: string | undefined;
  /** The machine it is for: `x86_64`, `aarch64`, or as `deno compile --target` names it. @default {this machine} */
  readonly target?: string | undefined;
  /** Make the image as well, by the builder in `operator.toml`. */
  readonly image?: boolean | undefined;
  /** Let the executable send traces by OpenTelemetry. @default {what `operator.toml` says; otherwise it sends none} */
  readonly telemetry?: boolean | undefined;
  /** Replace whatever is at `output`. */
  readonly force?: boolean | undefined;
}

/**
 * Builds an executable.
 *
 * @param file The file whose default export is the operator. It may lie in a project or alone.
 * @param options Where to, and with what.
 * @param io The terminal and the shell.
 * @throws {Failure} If anything does not work out. The output is then as it was before, unless it was the image's builder that failed.
 */
export async function build(file: string, options: BuildOptions, io: Io): Promise<void> {
  const target = targetOf(options.target);
  const source = await sourceFile(file, io);
  const project = await projectFile(source, options, io);
  if (options.output !== undefined) await checkPlaces(options.output, options, io);
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
  const flags = await permissionFlags(bundled.path, project, file);
  const output = options.output ?? join("dist", facts.name);
  if (options.output === undefined) await checkPlaces(output, options, io);
  const executable = join(folder, "operator");
  const telemetry = options.telemetry ?? facts.telemetry;
  step(`Compiling for ${target ?? "this machine"}`, io);
  await compile({ compiler, bundled: bundled.path, executable, flags, target, telemetry }, io);
  step("Writing the bill of materials", io);
  const bill = await billOf(executable, bundled, facts, await versionOf(compiler));
  const places = artifacts(output);
  const path = (artifact: Artifact) => resolve(io.cwd, artifact.path);
  await replaceTogether(
    [
      { path: path(places.map), content: JSON.stringify({ ...mapFile(bundled.maps), x_made_by: "op build" }) },
      { path: path(places.bill), content: `${JSON.stringify(bill, null, 2)}\n` },
      { path: path(places.executable), content: await Deno.readFile(executable), mode: 0o755 },
    ],
    [],
    io,
  );
  tell(facts, output, (await Deno.stat(executable)).size, io);
  if (options.image === true) await buildImage(facts, source.folder, io);
}

/** What is written, each with what shows that it was made here: only that is replaced unasked. */
function artifacts(output: string) {
  return {
    executable: { path: output, mark: "Made by op build" },
    map: { path: `${output}.map`, mark: '"x_made_by":"op build"' },
    bill: { path: `${output}.cdx.json`, mark: '"bomFormat": "CycloneDX"' },
  };
}

async function checkPlaces(output: string, { force = false }: BuildOptions, io: Io): Promise<void> {
  for (const artifact of Object.values(artifacts(output))) await checkReplaceable(artifact, force, io);
}

async function billOf(executable: string, { maps, lock }: Bundle, facts: OperatorFacts, runtime: string) {
  const sha256 = createHash("sha256").update(await Deno.readFile(executable)).digest("hex");
  const sources = [...maps.values()].flatMap((map) => map.sources);
  return sbom({ operator: facts, sha256, lock, sources, runtime, tool: VERSION });
}

/** How long the program may take to print its permissions, in milliseconds. One that does not run its operator may never end. */
const LONGEST_RUN = 60_000;

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
  const args = ["run", "--quiet", "--no-config", "--no-lock", ...LOADING, bundled, "sandbox", ...told];
  const { success, stdout, stderr } = await run(runningDeno(), args, { cwd: dirname(bundled), timeout: LONGEST_RUN });
  const flags = stdout.split("\n").filter((line) => line !== "");
  if (
    success && flags.includes("--no-prompt") && flags.every((flag) => /^--(allow|deny|no)-[a-z]+(=.+)?$/.test(flag))
  ) return flags;
  throw new Failure(
    `Cannot build "${shown}": started as a program it does not run its operator; end the file with "if (import.meta.main) await op.main()"` +
      (stderr === "" ? "" : `\n${stderr.trim()}`),
  );
}

function tell(facts: OperatorFacts, shown: string, size: number, io: Io): void {
  io.out(`Made ${shown} (${(size / 1e6).toFixed(0)} MB) of operator "${facts.name}". It may:\n\n`);
  for (const { access, target, reason } of facts.permissions) io.out(`  ${access} ${target}: ${reason}\n`);
  const { map, bill } = artifacts(shown);
  io.out(`\nBeside it: ${map.path} (for op trace), ${bill.path} (what is in it)\n`);
}
