/** A file with an operator and no project around it: `op` tells Deno where the SDK is. */
import { dirname, join } from "node:path";
import { exists } from "../new/files_whole.ts";
import type { SourceFile } from "../deno.ts";
import { VERSION } from "../version.ts";

/** Files that say how modules are found. */
const PROJECTS = ["deno.json", "deno.jsonc", "package.json"];

/**
 * The flags with which Deno finds the SDK: none in a project, which says so itself.
 *
 * @param source The file.
 */
export async function projectFlags({ folder }: Pick<SourceFile, "folder">): Promise<string[]> {
  for (let path = folder;; path = dirname(path)) {
    for (const name of PROJECTS) if (await exists(join(path, name))) return [];
    if (dirname(path) === path) break;
  }
  const map = JSON.stringify({ imports: await sdkImports() });
  return ["--no-lock", `--import-map=data:application/json,${encodeURIComponent(map)}`];
}

/** The published SDK of this version; where `op` runs from the SDK's own folder, that one. */
async function sdkImports(): Promise<Record<string, string>> {
  const here = import.meta.url;
  const isPublished = Deno.build.standalone || !here.startsWith("file:");
  const sdk = `jsr:@op/sdk@^${VERSION}`;
  if (isPublished) return { "@op/sdk": sdk, "@op/sdk/": `jsr:/@op/sdk@^${VERSION}/` };
  const root = new URL("../../", here);
  const { exports, imports } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root))) as {
    readonly exports: Readonly<Record<string, string>>;
    readonly imports: Readonly<Record<string, string>>;
  };
  const doors = Object.entries(exports).map(([name, path]) => [`@op/sdk${name.slice(1)}`, new URL(path, root).href]);
  const below = Object.entries(imports).map(([name, target]) => [`${name}/`, target.replace(/^npm:(.*)$/, "npm:/$1/")]);
  return { ...imports, ...Object.fromEntries(below), ...Object.fromEntries(doors) };
}
