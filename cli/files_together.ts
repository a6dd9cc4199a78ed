/** Files that belong together: all of them are put in their places, or all of them are as they were, however it ends. */
import { basename, dirname, join } from "node:path";
import { Failure } from "./exit_code.ts";
import type { Io } from "./io.ts";
import { whyNotWritten } from "./output.ts";

/** A file that is to be. */
export interface WantedFile {
  /** The place, absolute. */
  readonly path: string;
  readonly content: Uint8Array | string;
  /** Who may do what with it. @default {0o644} */
  readonly mode?: number;
}

/**
 * Puts files in their places, in folders that are made where they are missing. Whoever reads one meanwhile gets the old or the new one, whole.
 *
 * @param files The files.
 * @param gone Files that are to go, absolute.
 * @param io The terminal and the shell: Ctrl-C leaves all as it was.
 * @throws {Failure} If one cannot be written. All is as it was then.
 */
export async function replaceTogether(files: readonly WantedFile[], gone: readonly string[], io: Io): Promise<void> {
  const made: string[] = [];
  const undo = (): void => made.toReversed().forEach(removeUnlessFull);
  using _interrupt = io.onInterrupt?.(undo);
  const moves: (readonly [from: string, to: string])[] = [];
  for (const { path, content, mode = 0o644 } of files) {
    // In the same folder, so that it only has to be renamed; named before it is there, so that no interruption comes between the two.
    const beside = join(dirname(path), `.${basename(path)}.op-${crypto.randomUUID()}`);
    try {
      await makeFolders(dirname(path), made);
      made.push(beside);
      if (typeof content === "string") await Deno.writeTextFile(beside, content);
      else await Deno.writeFile(beside, content);
      await Deno.chmod(beside, mode);
    } catch (error) {
      undo();
      throw new Failure(`Cannot write "${path}": ${whyNotWritten(error)}; all is as it was`, { cause: error });
    }
    moves.push([beside, path]);
  }
  // Not awaited: a signal cannot come in between.
  for (const [from, to] of moves) Deno.renameSync(from, to);
  for (const path of gone) Deno.removeSync(path);
}

async function makeFolders(folder: string, made: string[]): Promise<void> {
  const missing: string[] = [];
  for (let path = folder; !await isThere(path); path = dirname(path)) missing.unshift(path);
  for (const path of missing) {
    made.push(path);
    await Deno.mkdir(path);
  }
}

async function isThere(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

function removeUnlessFull(path: string): void {
  try {
    Deno.removeSync(path);
  } catch { /* it is not there, or others put something into it */ }
}
