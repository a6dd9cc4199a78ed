/**
 * Bundles an operator's file with its imports. The result is one file that is run, and others that
 * it imports on demand, such as the code for certificates. V8 reads a whole file before it runs the
 * first line, which takes half of an operator's startup time.
 */
import { basename, extname, join } from "node:path";
import { denoErrors, run, runningDeno, type SourceFile } from "../deno.ts";
import { Failure } from "../exit_code.ts";
import { VERSION } from "../version.ts";
import { projectOf } from "../project.ts";
import type { SourceMap } from "./source_map.ts";
import { chunksOf } from "./chunks.ts";
import { namedSource } from "./source_name.ts";

/** A mark in each executable that `op build` writes. Only such files are overwritten by default. */
export const MARK = "Built by op build";

/** The name of the bundle in stack traces of the executable. */
export const BUNDLE_NAME = "operator.js";

/**
 * Libraries that are not part of the executable. The Kubernetes client is needed only for
 * kubeconfigs with a credential plugin or OIDC; it would add 20 MB, and 36 ms to each start. The
 * second name is the one in a published SDK.
 */
const EXTERNAL = ["@kubernetes/client-node", "npm:@kubernetes/client-node@*"];

/** A bundle and its sources. */
export interface Bundle {
  /** The path of the file that is run. The others are in the same folder. */
  readonly path: string;
  /**
   * Source maps by file name, the file that is run first. Names of sources are the same on each
   * machine.
   */
  readonly maps: ReadonlyMap<string, SourceMap>;
  /** The content of the lock file: the packages with their checksums. */
  readonly lock: string;
}

/**
 * Bundles a file.
 *
 * @param source The file.
 * @param folder An empty folder for the bundle.
 * @param shown The file as the user typed it.
 * @throws {Failure} If this Deno cannot bundle, or the file has a type error or a missing import.
 */
export async function bundle(source: Omit<SourceFile, "shown">, folder: string, shown: string): Promise<Bundle> {
  const deno = runningDeno();
  await checkBundler(deno);
  const path = join(folder, BUNDLE_NAME);
  const output = join(folder, "bundle");
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
    ...EXTERNAL.map((name) => `--external=${name}`),
    `--outdir=${output}`,
    source.path,
  ];
  const { success, stderr } = await run(deno, args, { cwd: source.folder });
  if (!success) throw new Failure(`Cannot bundle "${shown}":\n${denoErrors(stderr)}`, { code: "BundleFailed" });
  const named = namedSource({ folder: output, project: source.folder, npmCache: await npmCacheOf(deno) });
  const maps = new Map<string, SourceMap>();
  const entry = `${basename(source.path, extname(source.path))}.js`;
  for (const { name, code, map } of await chunksOf(output, entry, BUNDLE_NAME)) {
    const file = join(folder, name);
    const head = [`// ${MARK} ${VERSION}`, ...requireFor(code)];
    await Deno.writeTextFile(file, `${head.join("\n")}\n${code}`);
    // The executable has the modification times of its files. A fixed time makes builds
    // reproducible.
    await Deno.utime(file, 0, 0);
    maps.set(name, await withNames(JSON.parse(map), named, head.length));
  }
  return { path, maps, lock: await Deno.readTextFile(project.lock).catch(() => "{}") };
}

/** Checks the version of Deno. Bundlers of earlier versions fail on some libraries of the SDK. */
async function checkBundler(deno: string): Promise<void> {
  const { stdout } = await run(deno, ["--version"]);
  const [, version, major, minor] = /^deno ((\d+)\.(\d+)\S*)/.exec(stdout) ?? [];
  if (Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 9)) return;
  throw new Failure(
    `Cannot bundle with Deno ${version}: Deno 2.9 or newer is required. Run op with Deno 2.9 or newer; --compiler may name an older one.`,
  );
}

/**
 * Returns the line that defines `require`, if libraries in a bundle call it for built-in modules.
 *
 * The bundler adds a function that throws instead. It removes that function if it recognizes it by
 * name, but the minifier may name it `$s`, which Deno 2.9.6 does not recognize. Any change of the
 * code can lead to that name. The function tries a global `require` first.
 *
 * @param code The bundle.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(requireFor("console.log(1)"), []);
 * const code = `throw Error('Dynamic require of "'+t+'" is not supported')`;
 * assert.match(requireFor(code)[0]!, /^import.*;var require=/);
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

/**
 * Replaces the paths of this machine in a source map, and shifts it by the lines added to the file.
 */
async function withNames(
  map: SourceMap,
  named: (source: string) => Promise<string>,
  addedLines: number,
): Promise<SourceMap> {
  return {
    ...map,
    sources: await Promise.all(map.sources.map(named)),
    mappings: `${";".repeat(addedLines)}${map.mappings}`,
  };
}
