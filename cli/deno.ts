/** Runs Deno and other programs, and finds the files that commands are given. */
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Failure, throwIfInterrupted } from "./exit_code.ts";
import type { Io } from "./io.ts";

/**
 * Returns the Deno that runs `op`. If `op` is a compiled executable, that is the `deno` on the
 * PATH.
 */
export function runningDeno(): string {
  return Deno.build.standalone ? "deno" : Deno.execPath();
}

/** A file with an operator. */
export interface SourceFile {
  readonly path: string;
  /** The path as the user typed it. */
  readonly shown: string;
  readonly url: URL;
  readonly folder: string;
}

/**
 * Returns a file that is named on the command line.
 *
 * @param file The path as the user typed it.
 * @param io The terminal and the shell.
 * @throws {Failure} If the file does not exist.
 */
export async function sourceFile(file: string, io: Io): Promise<SourceFile> {
  const path = resolve(io.cwd, file);
  const info = await Deno.stat(path).catch(() => undefined);
  if (!info?.isFile) {
    const reason = info?.isDirectory ? "it is a folder" : "the file does not exist";
    throw new Failure(`Cannot read "${file}": ${reason}. Name the file whose default export is the operator.`);
  }
  return { path, shown: file, url: pathToFileURL(path), folder: dirname(path) };
}

/** The output of a program. */
export interface Output {
  readonly success: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a program until it ends.
 *
 * @param program The program.
 * @param args Its arguments.
 * @param options The working directory, environment variables to add, and a timeout in milliseconds
 *   after which the program is killed.
 * @throws {Failure} With code `ProgramNotFound`, if the program does not exist.
 */
export async function run(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>>; readonly timeout?: number } = {},
): Promise<Output> {
  const { timeout, ...rest } = options;
  const output = await outputOf(
    new Deno.Command(program, {
      args: [...args],
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
      ...rest,
    }),
    program,
    timeout,
  );
  throwIfInterrupted(output);
  const decoder = new TextDecoder();
  return { success: output.success, stdout: decoder.decode(output.stdout), stderr: decoder.decode(output.stderr) };
}

async function outputOf(command: Deno.Command, program: string, timeout?: number): Promise<Deno.CommandOutput> {
  try {
    const process = command.spawn();
    // A program may ignore SIGTERM.
    const timer = timeout === undefined ? undefined : setTimeout(() => process.kill("SIGKILL"), timeout);
    return await process.output().finally(() => clearTimeout(timer));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      throw new Failure(`Cannot run "${program}": the program is not installed, or not on the PATH.`, {
        code: "ProgramNotFound",
        cause: error,
      });
    }
    throw error;
  }
}

/**
 * Returns the part of Deno's error output that helps the author of a program: without the backtrace
 * of Deno itself, which `RUST_BACKTRACE` adds, and without the summary after the errors.
 *
 * @param stderr Deno's standard error.
 */
export function denoErrors(stderr: string): string {
  const errors = stderr.trim()
    .replace(/\n+Stack backtrace:\n(?: +\d+: [^\n]*(?:\n +at [^\n]*)?(?:\n|$))+$/, "")
    .replace(/\n+error: (?:bundling failed|Prepare module load error\n+Caused by:\n +Type checking failed)[^]*$/, "");
  const [, host] =
    /\bImport 'https:\/\/([^/']+)[^']*' failed|error sending request for url \(https:\/\/([^/)]+)/.exec(errors)
      ?.filter((one) => one !== undefined) ?? [];
  if (host === undefined) return errors;
  return `${errors}\nCannot reach "${host}", and the module is not in the cache of this machine. Connect to a network, ` +
    'or use an SDK in a folder with "links" in deno.json.';
}

/**
 * Returns whether Deno ended a program because its top level awaits a promise that never settles.
 * Deno ends it before any event that the program could handle, so only its output has the reason.
 *
 * @param stderr Deno's standard error.
 */
export function isUnsettledAwait(stderr: string): boolean {
  return stderr.includes("Top-level await promise never resolved");
}

/**
 * Returns whether `deno compile` failed because it could not download its runtime, `denort`. Deno
 * has one exit code for all errors.
 *
 * @param stderr Deno's standard error.
 */
export function isRuntimeMissing(stderr: string): boolean {
  return /error sending request for url \(\S+\/denort-/.test(stderr);
}
