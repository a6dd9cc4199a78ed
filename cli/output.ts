/**
 * The output of a command: standard output, or a file, which is overwritten only with `--force`.
 */
import { resolve } from "node:path";
import { Failure, UsageError } from "./exit_code.ts";
import type { Io } from "./io.ts";

/** Options for the output of a command. */
export interface OutputOptions {
  /** The file to write. @default {standard output} */
  readonly output?: string | undefined;
  /** Whether to overwrite the file. @default {false} */
  readonly force?: boolean | undefined;
}

/**
 * Checks the options before the command does its work.
 *
 * @param options The options.
 * @param io The terminal and the shell.
 * @throws {UsageError} If `force` is set without a file.
 * @throws {Failure} If the file exists, or is a folder.
 */
export async function checkOutput({ output, force = false }: OutputOptions, io: Io): Promise<void> {
  if (output === undefined) {
    if (force) throw new UsageError("Cannot use --force: it needs a file to overwrite. Name one with --output.");
    return;
  }
  const existing = await Deno.lstat(resolve(io.cwd, output)).catch(() => undefined);
  if (existing?.isDirectory) {
    throw new Failure(`Cannot write "${output}": it is a folder. Name a file in it.`);
  }
  if (force) return;
  if (existing !== undefined) {
    throw new Failure(`Cannot write "${output}": the file exists. Name another file, or add --force.`);
  }
}

/**
 * Writes the output of a command.
 *
 * @param text The output.
 * @param options The options, which {@linkcode checkOutput} has checked.
 * @param io The terminal and the shell.
 * @throws {Failure} If the file cannot be written. It is unchanged then.
 */
export async function writeOutput(text: string, { output }: OutputOptions, io: Io): Promise<void> {
  if (output === undefined) return io.out(text);
  const path = resolve(io.cwd, output);
  // A temporary file is written and then renamed, so that the output is never incomplete.
  const temporary = `${path}.op-${crypto.randomUUID()}`;
  try {
    await Deno.writeTextFile(temporary, text);
    await Deno.rename(temporary, path);
  } catch (error) {
    await Deno.remove(temporary).catch(() => {});
    throw new Failure(`Cannot write "${output}": ${writeErrorReason(error)}.`, { cause: error });
  }
}

/**
 * Returns the reason why a file could not be written.
 *
 * @param error The error of the file system.
 */
export function writeErrorReason(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "the folder does not exist";
  if (error instanceof Deno.errors.PermissionDenied) return "permission denied";
  const { code, message } = error as Error & { readonly code?: unknown };
  if (code === "ENOSPC") return "no space left on the disk";
  if (code === "EROFS") return "the file system is read-only";
  return message;
}
