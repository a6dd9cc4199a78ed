/** Adds a part to the operator of an existing project, atomically. */
import { basename, dirname, join, relative } from "node:path";
import { run, runningDeno, type SourceFile } from "../deno.ts";
import { Failure, throwIfInterrupted } from "../exit_code.ts";
import type { Io } from "../io.ts";
import { replaceFiles } from "../atomic_files.ts";
import { writeOutput } from "../output.ts";
import { addPart, linesFor, type NewPart } from "./add_part.ts";
import { exists, makeFolder } from "./atomic_folder.ts";
import { ModuleEditError } from "./module_text.ts";

/** Options for {@linkcode addToProject}. */
export interface AddOptions {
  /** Whether to edit the operator's module. @default {true} */
  readonly edit?: boolean | undefined;
}

/** A part and its files. */
export interface AddedPart {
  readonly part: NewPart;
  /** The folder of the files, next to the operator's module. */
  readonly folder: string;
  /** Content by name in that folder. */
  readonly files: ReadonlyMap<string, string>;
  /**
   * Changes to existing files in that folder: the new content, and the lines to add by hand.
   * @default {none}
   */
  readonly changes?: ReadonlyMap<string, { readonly text: string; readonly lines: string }>;
}

/**
 * Adds a part to an operator.
 *
 * @param main The module of the operator.
 * @param added The part.
 * @param options Additional options.
 * @param io The terminal and the shell.
 * @returns The created files, then the changed ones with a note, relative to the current directory.
 * @throws {Failure} If a file exists, or the module cannot be edited automatically.
 */
export async function addToProject(
  main: SourceFile,
  { part, folder, files, changes = new Map() }: AddedPart,
  { edit = true }: AddOptions,
  io: Io,
): Promise<string[]> {
  const target = join(main.folder, folder);
  const shown = (path: string) => relative(io.cwd, path) || basename(path);
  for (const name of files.keys()) await rejectExistingFile(join(target, name), shown);
  const before = await Deno.readTextFile(main.path);
  const after = edit ? await withPart(before, part, main, shown(main.path)) : before;
  const formattedFiles = new Map<string, string>();
  for (const [name, text] of files) formattedFiles.set(name, await formatted(text, main) ?? text);
  const created = [...formattedFiles.keys()].map((name) => shown(join(target, name)));
  const undo = await createFiles(target, formattedFiles, io);
  if (!edit) {
    for (const [name, { lines }] of changes) io.out(`Add to ${shown(join(target, name))}:\n\n${indented(lines)}\n`);
    io.out(`Add to ${shown(main.path)}:\n\n${indented(linesFor(part))}\n`);
    return created;
  }
  try {
    const changed = [...changes].map(async ([name, { text }]) => {
      const path = join(target, name);
      return { path, content: await inStyleOf(await Deno.readTextFile(path), text, main) };
    });
    await replaceFiles([...await Promise.all(changed), { path: main.path, content: after }], [], io);
  } catch (error) {
    undo();
    throw error;
  }
  const changed = [...[...changes.keys()].map((name) => join(target, name)), main.path];
  return [...created, ...changed.map((path) => `${shown(path)} (changed)`)];
}

async function rejectExistingFile(path: string, shown: (path: string) => string): Promise<void> {
  if (await exists(path)) {
    throw new Failure(
      `Cannot create "${shown(path)}": the file exists, and op does not overwrite it. Move it first.`,
    );
  }
}

async function withPart(before: string, part: NewPart, main: SourceFile, shown: string): Promise<string> {
  const fail = (reason: string): never => {
    throw new Failure(
      `Cannot add "${part.key}" to "${shown}": ${reason}. No file was created. Use --no-edit to create only the files, and add by hand:\n\n${
        indented(linesFor(part))
      }`.trimEnd(),
    );
  };
  let after: string;
  try {
    after = addPart(before, part);
  } catch (error) {
    if (error instanceof ModuleEditError) return fail(error.message);
    throw error;
  }
  // The edited module is formatted only if the module was formatted before.
  const formattedBefore = await formatted(before, main);
  if (formattedBefore === undefined) return fail("Deno cannot parse it");
  const formattedAfter = await formatted(after, main);
  if (formattedAfter === undefined) return fail("Deno could not parse it afterwards");
  return formattedBefore === before ? formattedAfter : after;
}

/** Formats a module if it was formatted before. */
async function inStyleOf(before: string, after: string, main: SourceFile): Promise<string> {
  return await formatted(before, main) === before ? await formatted(after, main) ?? after : after;
}

/** Formats a module. Returns `undefined` if it cannot be parsed. */
async function formatted(text: string, { folder }: SourceFile): Promise<string | undefined> {
  const process = new Deno.Command(runningDeno(), {
    args: ["fmt", "--quiet", "--ext=ts", "-"],
    cwd: folder,
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const writer = process.stdin.getWriter();
  const [output] = await Promise.all([
    process.output(),
    writer.write(new TextEncoder().encode(text)).then(() => writer.close()).catch(() => {}),
  ]);
  throwIfInterrupted(output);
  return output.success ? new TextDecoder().decode(output.stdout) : undefined;
}

/** Creates the files in a new or an existing folder, and returns a function that removes them. */
async function createFiles(target: string, files: ReadonlyMap<string, string>, io: Io): Promise<() => void> {
  if (!await exists(target)) {
    await makeFolder(target, files, io);
    return () => Deno.removeSync(target, { recursive: true });
  }
  const created: string[] = [];
  const undo = (): void => created.forEach((path) => Deno.removeSync(path));
  using _interrupt = io.onInterrupt?.(undo);
  try {
    for (const [name, text] of files) {
      await writeOutput(text, { output: join(target, name) }, io);
      created.push(join(target, name));
    }
  } catch (error) {
    undo();
    throw error;
  }
  return undo;
}

/** Formats the files of a folder with the project's settings. */
export async function formatFolder(folder: string): Promise<void> {
  await run(runningDeno(), ["fmt", "--quiet"], { cwd: folder });
}

/** Returns the relative specifier with which `from` imports `module`. */
export function specifierOf(module: string, from: string): string {
  const path = relative(dirname(from), module).replaceAll("\\", "/");
  return path.startsWith(".") ? path : `./${path}`;
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, "  ");
}
