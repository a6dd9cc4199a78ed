/** `operator.toml`: where a project says how it is built, generated and run. */
import { basename, join, resolve } from "node:path";
import { Failure } from "./exit_code.ts";
import { run, type SourceFile } from "./deno.ts";
import type { Io } from "./io.ts";

/** Options of commands that read it. */
export interface ProjectOptions {
  /** The file. @default {`operator.toml` beside the operator's file, where it is there} */
  readonly config?: string | undefined;
}

/** The file, as it lies there. What is in it is checked by the operator's own SDK. */
export interface ProjectFile {
  readonly text: string;
  /** As errors name it. */
  readonly path: string;
}

const FILE = "operator.toml";

/** Stands for the tag or the short hash of the commit; see `ImageParts` of the SDK. */
const COMMIT = "$TAG_OR_SHORT_COMMIT_SHA";

/**
 * Reads it.
 *
 * @param source The operator's file.
 * @param options Which file.
 * @param io The terminal and the shell.
 * @returns Nothing where there is none and none was asked for.
 * @throws {Failure} If it cannot be read.
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
    const why = error instanceof Deno.errors.NotFound
      ? "there is no such file"
      : error instanceof Deno.errors.IsADirectory
      ? "that is a folder; name the file in it"
      : (error as Error).message;
    throw new Failure(`Cannot read "${config ?? path}": ${why}`, { cause: error });
  }
}

/** Whether its image's tag names the commit. */
export function namesCommit(file: ProjectFile | undefined): file is ProjectFile {
  // Not where a comment tells of it.
  return file?.text.split("\n").some((line) => line.split("#", 1)[0]?.includes(COMMIT)) ?? false;
}

/**
 * What stands for the commit that is checked out, where the file's text asks for it: its tag, or its short hash.
 *
 * @param file The file.
 * @param source The operator's file, in whose folder git is asked.
 * @throws {Failure} If git cannot say.
 */
export async function commitFor(file: ProjectFile | undefined, { folder }: SourceFile): Promise<string | undefined> {
  if (!namesCommit(file)) return undefined;
  const git = async (...args: readonly string[]) => await run("git", args, { cwd: folder });
  const refuse = (why: string): never => {
    throw new Failure(
      `Cannot name the image: "${COMMIT}" in "${file.path}" asks for the commit, and ${why}; say --image, or another tag`,
    );
  };
  try {
    const tag = await git("describe", "--tags", "--exact-match", "HEAD");
    if (tag.success) return tag.stdout.trim();
    const hash = await git("rev-parse", "--short", "HEAD");
    return hash.success ? hash.stdout.trim() : refuse(`git has none: ${hash.stderr.trim().split("\n")[0]}`);
  } catch (error) {
    if (/there is no such program/.test((error as Error).message)) return refuse("there is no git");
    throw error;
  }
}
