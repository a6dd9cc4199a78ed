/** The modules on this machine that a file is made of. */
import { fileURLToPath } from "node:url";
import { run, runningDeno, type SourceFile } from "../deno.ts";
import { projectOf } from "../project.ts";

/**
 * Paths of the file and of all it imports, as far as they are on this machine; the file alone where they cannot be found out, as while it is no module.
 *
 * @param source The file.
 * @param folder Where a project may be made for a file that has none.
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
