/**
 * From an operator's file to a few with all that it imports, and what they were made of: one that is run, and beside it what that one imports on demand, such as
 * what makes certificates. V8 reads the whole of a file before the first line of it is run, so that this is half of the time until an operator works.
 */
import { basename, extname, join } from "node:path";
import { faultOf, run, runningDeno, type SourceFile } from "../deno.ts";
import { Failure } from "../exit_code.ts";
import { VERSION } from "../version.ts";
import { projectOf } from "../project.ts";
import type { SourceMap } from "./source_map.ts";
import { chunksOf } from "./chunks.ts";
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

/** The files, and what they were made of. */
export interface Bundle {
  /** Where the one is that is run; the others lie beside it. */
  readonly path: string;
  /** Source maps by the files' names, that of the one that is run first; sources are named the same on each machine. */
  readonly maps: ReadonlyMap<string, SourceMap>;
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
export async function bundle(source: Omit<SourceFile, "shown">, folder: string, shown: string): Promise<Bundle> {
  const deno = runningDeno();
  await checkBundler(deno);
  const path = join(folder, BUNDLE_NAME);
  const made = join(folder, "bundle");
  const project = await projectOf(source, folder);
  const args = [
    "bundle",
    "--quiet",
    "--check",
    "--minify",
    "--platform=deno",
    "--sourcemap=external",
    "--code-splitting",
    ...project.flags,
    ...LEFT_OUT.map((name) => `--external=${name}`),
    `--outdir=${made}`,
    source.path,
  ];
  const { success, stderr } = await run(deno, args, { cwd: source.folder });
  if (!success) throw new Failure(`Cannot bundle "${shown}":\n${faultOf(stderr)}`);
  const named = namedSource({ folder: made, project: source.folder, npmCache: await npmCacheOf(deno) });
  const maps = new Map<string, SourceMap>();
  const entry = `${basename(source.path, extname(source.path))}.js`;
  for (const { name, code, map } of await chunksOf(made, entry, BUNDLE_NAME)) {
    const file = join(folder, name);
    const head = [`// ${MARK} ${VERSION}`, ...requireFor(code)];
    await Deno.writeTextFile(file, `${head.join("\n")}\n${code}`);
    // A file's time is written into the executable: a fixed one makes equal bytes of equal code.
    await Deno.utime(file, 0, 0);
    maps.set(name, await withNames(JSON.parse(map), named, head.length));
  }
  return { path, maps, lock: await Deno.readTextFile(project.lock).catch(() => "{}") };
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
 * The line that a bundle needs in which libraries `require` what is Deno's own.
 *
 * The bundler puts a function into it that throws, and takes it out again where it knows it by its name; made short, that may be `$s`, which Deno 2.9.6 does not
 * know. Any change of the code may lead to that. The function asks for a `require` first.
 *
 * @param code The bundle.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(requireFor("console.log(1)"), []);
 * assert.match(requireFor(`throw Error('Dynamic require of "'+t+'" is not supported')`)[0]!, /^import.*;var require=/);
 * ```
 */
export function requireFor(code: string): string[] {
  if (!code.includes("Dynamic require of")) return [];
  return [
    'import{createRequire as __opCreateRequire}from"node:module";var require=__opCreateRequire(import.meta.url);',
  ];
}

async function npmCacheOf(deno: string): Promise<string> {
  const { stdout } = await run(deno, ["info", "--json"]);
  return (JSON.parse(stdout) as { npmCache: string }).npmCache;
}

/** The bundler's map names files as they lie on this machine, and knows nothing of the lines that are put above. */
async function withNames(
  map: SourceMap,
  named: (source: string) => Promise<string>,
  above: number,
): Promise<SourceMap> {
  return {
    ...map,
    sources: await Promise.all(map.sources.map(named)),
    mappings: `${";".repeat(above)}${map.mappings}`,
  };
}
