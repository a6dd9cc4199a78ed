/**
 * Files that are made as a whole: all of them are there afterwards, or nothing is, however it ends.
 */
import { basename, dirname, join } from "node:path";
import { Failure } from "../exit_code.ts";
import type { Io } from "../io.ts";
import { writeErrorReason } from "../output.ts";
import { removeAll } from "../remove_all.ts";

/**
 * Makes a folder with files, or fills one that is empty.
 *
 * @param folder The folder.
 * @param files Path to text.
 * @param io The terminal and the shell: Ctrl-C leaves nothing behind.
 * @param complete Makes what is missing, in a folder that becomes this one and lies beside it.
 * @throws {Failure} If it cannot be written. Nothing is there then.
 */
export async function makeFolder(
  folder: string,
  files: ReadonlyMap<string, string>,
  io: Io,
  complete?: (whole: string) => Promise<void>,
): Promise<void> {
  const above = dirname(folder);
  const made = await makeAbove(above);
  // Named before it is there, so that no interruption comes between the two.
  const beside = join(above, `.${basename(folder)}-${crypto.randomUUID()}`);
  using _interrupt = io.onInterrupt?.(() => {
    removeAll(beside);
    for (const path of made) removeEmpty(path);
  });
  try {
    // Not awaited: nothing is being made while an interruption undoes it.
    Deno.mkdirSync(beside);
    for (const [path, text] of files) {
      Deno.mkdirSync(dirname(join(beside, path)), { recursive: true });
      Deno.writeTextFileSync(join(beside, path), text);
    }
    await complete?.(beside);
    if (await exists(folder)) await moveEntries(beside, folder);
    else await Deno.rename(beside, folder);
  } catch (error) {
    removeAll(beside);
    for (const path of made) removeEmpty(path);
    throw new Failure(`Cannot make "${folder}": ${writeErrorReason(error)}; nothing was made`, { cause: error });
  }
  removeEmpty(beside);
}

/** Makes the folders above that are missing, and answers them, the deepest first. */
async function makeAbove(above: string): Promise<string[]> {
  const missing: string[] = [];
  for (let path = above; !(await exists(path)); path = dirname(path)) missing.push(path);
  try {
    Deno.mkdirSync(above, { recursive: true });
  } catch (error) {
    missing.forEach(removeEmpty);
    throw new Failure(`Cannot make the folder "${above}": ${writeErrorReason(error)}; name another with --dir`, {
      cause: error,
    });
  }
  return missing;
}

function removeEmpty(path: string): void {
  try {
    Deno.removeSync(path);
  } catch { /* it is not there, or others put something into it */ }
}

/**
 * Fills an empty folder that may be somebody's working directory, which would be lost if another
 * took its place.
 */
async function moveEntries(from: string, to: string): Promise<void> {
  for await (const { name } of Deno.readDir(from)) await Deno.rename(join(from, name), join(to, name));
}

/** Whether there is something, be it only a link that leads nowhere. */
export async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}
