/**
 * The Deno or Node.js project of a file, which resolves its imports. A file without a project gets
 * a temporary one.
 */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SourceFile } from "./deno.ts";
import type { Io } from "./io.ts";
import { temporaryFolder } from "./temporary_folder.ts";
import { VERSION } from "./version.ts";

/** A file's project. */
export interface Project {
  /** Flags for Deno, in addition to the file. */
  readonly flags: readonly string[];
  /** Path of the lock file, or where Deno will write it. */
  readonly lock: string;
}

const CONFIGS = ["deno.json", "deno.jsonc", "package.json"];

/**
 * Returns the project of a file. For a file without a project, it creates one in which `@op/sdk` is
 * the SDK of this `op`.
 *
 * @param source The file.
 * @param folder A folder for the new project, outside the file's own folder.
 */
export async function projectOf(source: Pick<SourceFile, "folder">, folder: string): Promise<Project> {
  if (await findUpwards(source.folder, CONFIGS) !== undefined) {
    return { flags: [], lock: await findUpwards(source.folder, ["deno.lock"]) ?? join(source.folder, "deno.lock") };
  }
  const config = join(folder, "deno.json");
  const sdk = localSdk();
  const content = {
    imports: { "@op/sdk": `jsr:@op/sdk@^${VERSION}` },
    // The same as in new projects, because Deno also applies them to an SDK in a folder.
    compilerOptions: { exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, strict: true },
    ...(sdk === undefined ? {} : { links: [sdk] }),
  };
  await Deno.writeTextFile(config, JSON.stringify(content));
  return { flags: [`--config=${config}`], lock: join(folder, "deno.lock") };
}

/**
 * Calls a function with the project of a file. A temporary project is deleted afterwards.
 *
 * @param folder The folder of the file.
 * @param io The terminal and the shell: Ctrl-C deletes a temporary project.
 * @param use The function, which receives flags for Deno.
 */
export async function withProject<T>(
  folder: string,
  io: Io,
  use: (flags: readonly string[]) => Promise<T>,
): Promise<T> {
  if (await findUpwards(folder, CONFIGS) !== undefined) return await use([]);
  using own = temporaryFolder("op-project-", io);
  return await use((await projectOf({ folder }, own.path)).flags);
}

/** Returns the folder of the SDK if `op` runs from its source. */
function localSdk(): string | undefined {
  const root = new URL("../", import.meta.url);
  return Deno.build.standalone || root.protocol !== "file:" ? undefined : fileURLToPath(root).replace(/\/$/, "");
}

/** Returns the first named file that exists in a folder, or else in its nearest parent. */
async function findUpwards(folder: string, names: readonly string[]): Promise<string | undefined> {
  for (const name of names) {
    const path = join(folder, name);
    if (await Deno.stat(path).then(({ isFile }) => isFile, () => false)) return path;
  }
  const parent = dirname(folder);
  return parent === folder ? undefined : await findUpwards(parent, names);
}
