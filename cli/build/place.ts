/** Where what was made goes: never over what somebody else made. */
import { Buffer } from "node:buffer";
import { resolve } from "node:path";
import { Failure } from "../exit_code.ts";
import type { Io } from "../io.ts";

/** A file that is made. */
export interface Artifact {
  readonly path: string;
  /** What stands in each file that was made here. */
  readonly mark: string;
}

/**
 * Looks whether a file may be written: none is there, or one that was made here.
 *
 * @param artifact The file; its path may be relative.
 * @param force Whether any file may be replaced.
 * @param io The terminal and the shell.
 * @throws {Failure} If it may not.
 */
export async function checkReplaceable({ path, mark }: Artifact, force: boolean, io: Io): Promise<void> {
  const place = resolve(io.cwd, path);
  const info = await Deno.lstat(place).catch(() => undefined);
  if (info === undefined) return;
  if (!info.isFile) throw new Failure(`Cannot write "${path}": that is no file; name another one with --output`);
  if (force || Buffer.from(await Deno.readFile(place)).includes(mark)) return;
  throw new Failure(`Cannot write "${path}": there is a file that op did not make; name another one, or say --force`);
}
