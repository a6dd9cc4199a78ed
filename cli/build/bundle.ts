/** From an operator's file to one file with all that it imports, and what that was made of. */
import { join } from "node:path";
import { run, runningDeno, type SourceFile } from "../deno.ts";
import { Failure } from "../exit_code.ts";
import { VERSION } from "../version.ts";
import { projectOf } from "../project.ts";
import type { SourceMap } from "./source_map.ts";
import { namedSource } from "./source_name.ts";

/** Stands in every executable that is made here, so that only those are replaced unasked. */
export const MARK = "Made by op build";

/** The name of the bundle, which stands in stack traces of the executable. */
export const BUNDLE_NAME = "operator.js";

/**
 * Libraries that stay out of the executable. The Kubernetes client is only needed for kubeconfigs with a login by another program; it would
 * cost 20 MB and 36 ms at each start. Its second name is the one it has in a published SDK.
 */
const LEFT_OUT = ["@kubernetes/client-node", "npm:@kubernetes/client-node@*"];

/** One file, and what it was made of. */
export interface Bundle {
  /** Where it is. */
  readonly path: string;
  /** Its source map; sources are named the same on each machine. */
  readonly map: SourceMap;
  /** The lock file's text: the packages with their sums. */
  readonly lock: string;
}

/**
 * Bundles.
 *
 * @param source The file.
 * @param folder Where the bundle goes: a folder of its own.
 * @param shown The file, as the user named it.
 * @throws {Failure} If this Deno cannot bundle, or the file cannot be bundled: types, imports.
 */
export async function bundle(source: SourceFile, folder: string, shown: string): Promise<Bundle> {
  const deno = runningDeno();
  await checkBundler(deno);
  const path = join(folder, BUNDLE_NAME);
  const project = await projectOf(source, folder);
  const args = [
    "bundle",
    "--quiet",
    "--check",
    "--minify",
    "--platform=deno",
    "--sourcemap=external",
    ...project.flags,
    ...LEFT_OUT.map((name) => `--external=${name}`),
    `--output=${path}`,
    source.path,
  ];
  const { success, stderr } = await run(deno, args, { cwd: source.folder });
  if (!success) throw new Failure(`Cannot bundle "${shown}":\n${stderr.trim()}`);
  const map = await namedMap(JSON.parse(await Deno.readTextFile(`${path}.map`)), folder, source, deno);
  const code = await Deno.readTextFile(path);
  await Deno.writeTextFile(path, `// ${MARK} ${VERSION}\n${code}`);
  // The file's time is written into the executable: a fixed one makes equal bytes of equal code.
  await Deno.utime(path, 0, 0);
  return { path, map, lock: await Deno.readTextFile(project.lock).catch(() => "{}") };
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

/** The bundler's map names files as they lie on this machine, and knows nothing of the line that is put above. */
async function namedMap(map: SourceMap, folder: string, source: SourceFile, deno: string): Promise<SourceMap> {
  const { stdout } = await run(deno, ["info", "--json"]);
  const { npmCache } = JSON.parse(stdout) as { npmCache: string };
  const named = namedSource({ folder, project: source.folder, npmCache });
  const sources = await Promise.all(map.sources.map(named));
  return { ...map, sources, mappings: `;${map.mappings}` };
}
