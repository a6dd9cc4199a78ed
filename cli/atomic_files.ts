/** Writes several files atomically: after an error or Ctrl-C, all of them are unchanged. */
import { basename, dirname, join } from "node:path";
import { Failure } from "./exit_code.ts";
import type { Io } from "./io.ts";
import { writeErrorReason } from "./output.ts";

/** A file to write. */
export interface WantedFile {
  /** Its absolute path. */
  readonly path: string;
  readonly content: Uint8Array | string;
  /** Its mode. @default {0o644} */
  readonly mode?: number;
}

/**
 * Replaces files and creates missing folders. A reader sees either the old or the new content of a
 * file, never a part of it.
 *
 * @param files The files to write.
 * @param obsolete Absolute paths of files to remove.
 * @param io The terminal and the shell: after Ctrl-C, all files are unchanged.
 * @throws {Failure} If a file cannot be written. All files are unchanged then.
 */
export async function replaceFiles(
  files: readonly WantedFile[],
  obsolete: readonly string[],
  io: Io,
): Promise<void> {
  const created: string[] = [];
  const undo = (): void => created.toReversed().forEach(removeIfEmpty);
  using _interrupt = io.onInterrupt?.(undo);
  const moves: (readonly [from: string, to: string])[] = [];
  for (const { path, content, mode = 0o644 } of files) {
    // The temporary file is in the same folder, so that it only needs to be renamed. Its path is
    // recorded before it is created, so that an interruption cannot leave it behind.
    const temporary = join(dirname(path), `.${basename(path)}.op-${crypto.randomUUID()}`);
    try {
      await makeFolders(dirname(path), created);
      created.push(temporary);
      if (typeof content === "string") await Deno.writeTextFile(temporary, content);
      else await Deno.writeFile(temporary, content);
      await Deno.chmod(temporary, mode);
    } catch (error) {
      undo();
      throw new Failure(`Cannot write "${path}": ${writeErrorReason(error)}. No file was changed.`, { cause: error });
    }
    moves.push([temporary, path]);
  }
  // The calls are synchronous, so that no signal is handled between two renames.
  for (const [from, to] of moves) Deno.renameSync(from, to);
  for (const path of obsolete) Deno.removeSync(path);
}

async function makeFolders(folder: string, created: string[]): Promise<void> {
  const missing: string[] = [];
  for (let path = folder; !await exists(path); path = dirname(path)) missing.unshift(path);
  for (const path of missing) {
    created.push(path);
    await Deno.mkdir(path);
  }
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

function removeIfEmpty(path: string): void {
  try {
    Deno.removeSync(path);
  } catch { /* It does not exist, or another program has put files into it. */ }
}
