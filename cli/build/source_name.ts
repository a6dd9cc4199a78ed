/** Names for the sources of a bundle, which are the same on each machine. */
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** The folders of sources. */
export interface Places {
  /** The folder of the bundle. The bundler's names are relative to it. */
  readonly folder: string;
  /** The folder of the operator's file. */
  readonly project: string;
  /** The folder of npm packages in Deno's cache. */
  readonly npmCache: string;
}

/**
 * Returns a function that names sources: `website/controller.ts` in the project,
 * `npm:yaml@2.9.1/dist/index.js`, `jsr:@std/async@1.0.0/delay.ts`, or
 * `@op/sdk@0.1.0/src/base/clock.ts` for a package in another folder.
 *
 * @param places The folders.
 */
export function namedSource(places: Places): (source: string) => Promise<string> {
  const packages = new Map<string, Promise<Package | undefined>>();
  return async (source) => {
    const url = new URL(source, pathToFileURL(join(places.folder, "/")));
    if (url.protocol !== "file:") return remoteName(url);
    const path = fileURLToPath(url);
    const npm = npmName(path, places.npmCache);
    if (npm !== undefined) return npm;
    const inProject = relativeTo(path, places.project);
    if (inProject !== undefined) return inProject;
    const found = await packageOf(dirname(path), packages);
    return found === undefined ? relative(places.project, path) : `${found.name}/${relativeTo(path, found.folder)}`;
  };
}

/**
 * Returns the package of a named source, such as `npm:yaml@2.9.1`, or `undefined` for a file of the
 * project.
 */
export function packageIn(name: string): string | undefined {
  return /^((?:npm:|jsr:)?@[^/@]+\/[^/@]+@[^/]+|npm:[^/@]+@[^/]+)\//.exec(name)?.[1];
}

function remoteName({ href }: URL): string {
  const [, name, version, rest] = /^https:\/\/jsr\.io\/(@[^/]+\/[^/]+)\/([^/]+)\/(.*)$/.exec(href) ?? [];
  return name === undefined ? href : `jsr:${name}@${version}/${rest}`;
}

// <cache>/<registry>/<name>/<version>/<file>, or
// node_modules/.deno/<name>@<version>/node_modules/<name>/<file>. A suffix of the version
// distinguishes copies with different peers.
const CACHED = /^[^/]+\/((?:@[^/]+\/)?[^/]+)\/([^/_]+)(?:_[^/]*)?\/(.*)$/;
const INSTALLED =
  /\/node_modules\/\.deno\/(?:@[^/+]+\+)?[^/]*?@(\d[^/_]*)[^/]*\/node_modules\/((?:@[^/]+\/)?[^/]+)\/(.*)$/;

function npmName(path: string, npmCache: string): string | undefined {
  const [, name, version, rest] = CACHED.exec(relativeTo(path, npmCache) ?? "") ?? [];
  if (name !== undefined) return `npm:${name}@${version}/${rest}`;
  const [, installedVersion, installedName, file] = INSTALLED.exec(path) ?? [];
  return installedName === undefined ? undefined : `npm:${installedName}@${installedVersion}/${file}`;
}

interface Package {
  readonly name: string;
  readonly folder: string;
}

/**
 * Returns the package of a folder: the nearest deno.json, there or in a parent, with a name and a
 * version.
 */
function packageOf(folder: string, known: Map<string, Promise<Package | undefined>>): Promise<Package | undefined> {
  const found = known.get(folder) ?? readPackage(folder, known);
  known.set(folder, found);
  return found;
}

async function readPackage(
  folder: string,
  known: Map<string, Promise<Package | undefined>>,
): Promise<Package | undefined> {
  const text = await Deno.readTextFile(join(folder, "deno.json")).catch(() => "{}");
  const [, name] = /"name":\s*"([^"]+)"/.exec(text) ?? [];
  const [, version] = /"version":\s*"([^"]+)"/.exec(text) ?? [];
  if (name !== undefined && version !== undefined) return { name: `${name}@${version}`, folder };
  const parent = dirname(folder);
  return parent === folder ? undefined : await packageOf(parent, known);
}

/** Returns a path relative to a folder, or `undefined` if it is not in the folder. */
function relativeTo(path: string, folder: string): string | undefined {
  const found = relative(folder, path);
  return found === "" || found.startsWith("..") ? undefined : found;
}
