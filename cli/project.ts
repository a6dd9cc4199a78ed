/** The project that a file belongs to: it says what the file's imports mean. A file that belongs to none gets one for as long as it is worked on. */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SourceFile } from "./deno.ts";
import type { Io } from "./io.ts";
import { temporaryFolder } from "./temporary_folder.ts";
import { VERSION } from "./version.ts";

/** A file's project. */
export interface Project {
  /** Flags for Deno, beside the file. */
  readonly flags: readonly string[];
  /** Where the lock file is, or will be when Deno has resolved the imports. */
  readonly lock: string;
}

const CONFIGS = ["deno.json", "deno.jsonc", "package.json"];

/**
 * Finds the project of a file, or makes one for a file that lies alone: `@op/sdk` is then the SDK of this `op`.
 *
 * @param source The file.
 * @param folder Where a project may be made, outside the file's own folder.
 */
export async function projectOf(source: Pick<SourceFile, "folder">, folder: string): Promise<Project> {
  if (await above(source.folder, CONFIGS) !== undefined) {
    return { flags: [], lock: await above(source.folder, ["deno.lock"]) ?? join(source.folder, "deno.lock") };
  }
  const config = join(folder, "deno.json");
  const sdk = localSdk();
  const content = {
    imports: { "@op/sdk": `jsr:@op/sdk@^${VERSION}` },
    // As a new project has them: an SDK in a folder is held to them too.
    compilerOptions: { exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, strict: true },
    ...(sdk === undefined ? {} : { links: [sdk] }),
  };
  await Deno.writeTextFile(config, JSON.stringify(content));
  return { flags: [`--config=${config}`], lock: join(folder, "deno.lock") };
}

/**
 * Does something with a file's project, which is there for so long.
 *
 * @param folder The file's folder.
 * @param io The terminal and the shell: Ctrl-C leaves no project behind.
 * @param use Does it, with the flags for Deno.
 */
export async function withProject<T>(
  folder: string,
  io: Io,
  use: (flags: readonly string[]) => Promise<T>,
): Promise<T> {
  if (await above(folder, CONFIGS) !== undefined) return await use([]);
  using own = temporaryFolder("op-project-", io);
  return await use((await projectOf({ folder }, own.path)).flags);
}

/** The folder of the SDK, where this `op` lies in it. */
function localSdk(): string | undefined {
  const root = new URL("../", import.meta.url);
  return Deno.build.standalone || root.protocol !== "file:" ? undefined : fileURLToPath(root).replace(/\/$/, "");
}

/** The nearest of some files, in a folder or above it. */
async function above(folder: string, names: readonly string[]): Promise<string | undefined> {
  for (const name of names) {
    const path = join(folder, name);
    if (await Deno.stat(path).then(({ isFile }) => isFile, () => false)) return path;
  }
  const parent = dirname(folder);
  return parent === folder ? undefined : await above(parent, names);
}
