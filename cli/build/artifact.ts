/** Protects files that `op` did not write from being overwritten. */
import { Buffer } from "node:buffer";
import { resolve } from "node:path";
import { Failure } from "../exit_code.ts";
import type { Io } from "../io.ts";

/** A file that a command writes. */
export interface Artifact {
  readonly path: string;
  /** A string that every file of this type contains if `op` wrote it. */
  readonly mark: string;
}

/**
 * Checks that a file may be written: it does not exist, or `op` wrote it.
 *
 * @param artifact The file. Its path may be relative.
 * @param force Whether any file may be overwritten.
 * @param io The terminal and the shell.
 * @throws {Failure} If it may not be written.
 */
export async function checkReplaceable({ path, mark }: Artifact, force: boolean, io: Io): Promise<void> {
  const target = resolve(io.cwd, path);
  const info = await Deno.lstat(target).catch(() => undefined);
  if (info === undefined) return;
  if (!info.isFile) throw new Failure(`Cannot write "${path}": it is not a file. Name another file with --output.`);
  if (force || Buffer.from(await Deno.readFile(target)).includes(mark)) return;
  throw new Failure(`Cannot write "${path}": op did not write the existing file. Name another file, or add --force.`);
}
