/** Reads `operator.toml`, the build, generate and operator settings of a project. */
import { basename, join, resolve } from "node:path";
import { Failure } from "./exit_code.ts";
import { run, type SourceFile } from "./deno.ts";
import type { Io } from "./io.ts";

/** Options of commands that read the settings file. */
export interface ProjectOptions {
  /** The file. @default {`operator.toml` next to the operator's file, if it exists} */
  readonly config?: string | undefined;
}

/** The content of the file. The operator's own SDK validates it. */
export interface ProjectFile {
  readonly text: string;
  /** The path for error messages. */
  readonly path: string;
}

const FILE = "operator.toml";

/** Placeholder for the tag or the short hash of the commit; see `ImageParts` of the SDK. */
const COMMIT = "$TAG_OR_SHORT_COMMIT_SHA";

/**
 * Reads the settings file.
 *
 * @param source The operator's file.
 * @param options The file to read.
 * @param io The terminal and the shell.
 * @returns The file, or `undefined` if there is none and the options name none.
 * @throws {Failure} If the file cannot be read.
 */
export async function projectFile(
  source: SourceFile,
  { config }: ProjectOptions,
  io: Io,
): Promise<ProjectFile | undefined> {
  const path = config === undefined ? join(source.folder, FILE) : resolve(io.cwd, config);
  try {
    return { text: await Deno.readTextFile(path), path: config ?? basename(path) };
  } catch (error) {
    if (config === undefined && error instanceof Deno.errors.NotFound) return undefined;
    const reason = error instanceof Deno.errors.NotFound
      ? "the file does not exist"
      : error instanceof Deno.errors.IsADirectory
      ? "it is a folder"
      : (error as Error).message;
    throw new Failure(`Cannot read settings "${config ?? path}": ${reason}. Name an operator.toml with --config.`, {
      cause: error,
    });
  }
}

/** Returns whether the image tag has the placeholder for the commit. */
export function needsCommit(file: ProjectFile | undefined): file is ProjectFile {
  // Placeholders in comments do not count.
  return file?.text.split("\n").some((line) => line.split("#", 1)[0]?.includes(COMMIT)) ?? false;
}

/**
 * Returns the tag or the short hash of the current commit, if the settings file has the
 * placeholder.
 *
 * @param file The settings file.
 * @param source The operator's file: git runs in its folder.
 * @throws {Failure} If git is missing, or the folder has no commit.
 */
export async function commitFor(file: ProjectFile | undefined, { folder }: SourceFile): Promise<string | undefined> {
  if (!needsCommit(file)) return undefined;
  const git = async (...args: readonly string[]) => await run("git", args, { cwd: folder });
  const failure = (reason: string, cause?: unknown): Failure =>
    new Failure(
      `Cannot name the image: "${file.path}" uses "${COMMIT}", but ${reason}. Use --image, or another tag.`,
      { cause },
    );
  try {
    const tag = await git("describe", "--tags", "--exact-match", "HEAD");
    if (tag.success) return tag.stdout.trim();
    const hash = await git("rev-parse", "--short", "HEAD");
    if (hash.success) return hash.stdout.trim();
    throw failure(`git reports no commit: ${hash.stderr.trim().split("\n")[0]}`);
  } catch (error) {
    if (error instanceof Failure && error.code === "ProgramNotFound") throw failure("git is not installed", error);
    throw error;
  }
}
