/** Where a command puts its text: on standard output, or into a file that is not overwritten unless asked for. */
import { resolve } from "node:path";
import { Failure, UsageError } from "./exit_code.ts";
import type { Io } from "./io.ts";

/** Where the text goes. */
export interface OutputOptions {
  /** The file to write. @default {standard output} */
  readonly output?: string | undefined;
  /** Replace the file if it is there. */
  readonly force?: boolean | undefined;
}

/**
 * Looks whether the text could be put there, before there is any work in it.
 *
 * @param options Where it is to go.
 * @param io The terminal and the shell.
 * @throws {UsageError} If there is something to force and no file to write.
 * @throws {Failure} If the file is there already.
 */
export async function checkOutput({ output, force = false }: OutputOptions, io: Io): Promise<void> {
  if (output === undefined) {
    if (force) throw new UsageError("Cannot force anything: name the file to write with --output");
    return;
  }
  const there = await Deno.lstat(resolve(io.cwd, output)).catch(() => undefined);
  if (there?.isDirectory) throw new Failure(`Cannot write "${output}": that is a folder; name a file in it`);
  if (force) return;
  if (there !== undefined) {
    throw new Failure(`Cannot write "${output}": it is there already; name another file, or say --force`);
  }
}

/**
 * Puts a text where it is to go.
 *
 * @param text The text.
 * @param options Where it is to go: {@linkcode checkOutput} has looked there.
 * @param io The terminal and the shell.
 * @throws {Failure} If the file cannot be written. It is then as it was before.
 */
export async function writeOutput(text: string, { output }: OutputOptions, io: Io): Promise<void> {
  if (output === undefined) return io.out(text);
  const path = resolve(io.cwd, output);
  // Written beside the file, then moved into place: there is never half of it.
  const beside = `${path}.op-${crypto.randomUUID()}`;
  try {
    await Deno.writeTextFile(beside, text);
    await Deno.rename(beside, path);
  } catch (error) {
    await Deno.remove(beside).catch(() => {});
    throw new Failure(`Cannot write "${output}": ${whyNotWritten(error)}`, { cause: error });
  }
}

/**
 * Why something could not be written, in words.
 *
 * @param error What was thrown.
 */
export function whyNotWritten(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "there is no such folder";
  if (error instanceof Deno.errors.PermissionDenied) return "permission is denied";
  const { message } = error as Error;
  if (message.includes("(os error 28)")) return "no space is left on the disk";
  if (message.includes("(os error 30)")) return "the disk may only be read";
  return message;
}
