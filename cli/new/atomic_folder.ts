/** Creates a folder with files atomically: after an error or Ctrl-C, none of them exists. */
import { basename, dirname, join } from "node:path";
import { Failure } from "../exit_code.ts";
import type { Io } from "../io.ts";
import { writeErrorReason } from "../output.ts";
import { removeAll } from "../remove_all.ts";

/**
 * Creates a folder with files, or fills an empty one.
 *
 * @param folder The folder.
 * @param files Content by path.
 * @param io The terminal and the shell: Ctrl-C removes all files.
 * @param complete Adds further files to the temporary folder, before it is renamed to `folder`.
 * @throws {Failure} If a file cannot be written. No file exists then.
 */
export async function makeFolder(
  folder: string,
  files: ReadonlyMap<string, string>,
  io: Io,
  complete?: (temporary: string) => Promise<void>,
): Promise<void> {
  const parent = dirname(folder);
  const created = await makeParents(parent);
  // Registered before it is created, so that an interruption cannot leave it behind.
  const temporary = join(parent, `.${basename(folder)}-${crypto.randomUUID()}`);
  using _interrupt = io.onInterrupt?.(() => {
    removeAll(temporary);
    for (const path of created) removeIfEmpty(path);
  });
  try {
    // Files are written synchronously, so that none is created while an interruption removes them.
    Deno.mkdirSync(temporary);
    for (const [path, text] of files) {
      Deno.mkdirSync(dirname(join(temporary, path)), { recursive: true });
      Deno.writeTextFileSync(join(temporary, path), text);
    }
    await complete?.(temporary);
    if (await exists(folder)) await moveEntries(temporary, folder);
    else await Deno.rename(temporary, folder);
  } catch (error) {
    removeAll(temporary);
    for (const path of created) removeIfEmpty(path);
    throw new Failure(`Cannot create "${folder}": ${writeErrorReason(error)}. No file was created.`, { cause: error });
  }
  removeIfEmpty(temporary);
}

/** Creates missing parent folders, and returns them, the deepest first. */
async function makeParents(parent: string): Promise<string[]> {
  const missing: string[] = [];
  for (let path = parent; !(await exists(path)); path = dirname(path)) missing.push(path);
  try {
    Deno.mkdirSync(parent, { recursive: true });
  } catch (error) {
    missing.forEach(removeIfEmpty);
    throw new Failure(`Cannot create folder "${parent}": ${writeErrorReason(error)}. Name another folder with --dir.`, {
      cause: error,
    });
  }
  return missing;
}

function removeIfEmpty(path: string): void {
  try {
    Deno.removeSync(path);
  } catch { /* It does not exist, or another program has put files into it. */ }
}

/**
 * Moves files into an existing folder. It is not replaced, because it may be the working directory
 * of a shell.
 */
async function moveEntries(from: string, to: string): Promise<void> {
  for await (const { name } of Deno.readDir(from)) await Deno.rename(join(from, name), join(to, name));
}

/** Returns whether a path exists, even as a broken link. */
export async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}
