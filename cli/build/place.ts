/** Where what was made goes: in one step, and never over what somebody else made. */
import { Buffer } from "node:buffer";
import { dirname, resolve } from "node:path";
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

/**
 * Puts a file in its place in one step, also from another file system: whoever reads it meanwhile gets the old or the new one, whole.
 *
 * @param path The place, absolute.
 * @param content What is in it.
 * @param mode Who may do what with it. @default {0o644}
 */
export async function moveInto(path: string, content: Uint8Array | string, mode = 0o644): Promise<void> {
  await Deno.mkdir(dirname(path), { recursive: true });
  const beside = await Deno.makeTempFile({ dir: dirname(path), prefix: ".op-build-" });
  try {
    if (typeof content === "string") await Deno.writeTextFile(beside, content);
    else await Deno.writeFile(beside, content);
    await Deno.chmod(beside, mode);
    await Deno.rename(beside, path);
  } catch (error) {
    await Deno.remove(beside).catch(() => {});
    throw error;
  }
}
