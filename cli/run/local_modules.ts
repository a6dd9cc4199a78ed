/** Finds the local modules that a file imports. */
import { fileURLToPath } from "node:url";
import { run, runningDeno, type SourceFile } from "../deno.ts";
import { projectOf } from "../project.ts";

/**
 * Returns the paths of a file and of all local modules that it imports, directly or indirectly. If
 * the file cannot be parsed, only its own path is returned.
 *
 * @param source The file.
 * @param folder A folder for a temporary project.
 */
export async function localModules(source: SourceFile, folder: string): Promise<string[]> {
  const { flags } = await projectOf(source, folder);
  const args = ["info", "--json", "--no-lock", ...flags, source.path];
  const { success, stdout } = await run(runningDeno(), args, { cwd: source.folder, env: { NO_COLOR: "1" } });
  if (!success) return [source.path];
  const { modules } = JSON.parse(stdout) as { readonly modules: readonly { readonly specifier: string }[] };
  const files = modules.map(({ specifier }) => specifier).filter((one) => one.startsWith("file:"));
  const paths = files.map((url) => fileURLToPath(url)).filter((path) => !path.includes("/node_modules/"));
  return [...new Set([source.path, ...paths])];
}
