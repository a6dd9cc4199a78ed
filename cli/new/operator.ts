/** `op new operator`: a project that checks, lints, tests and compiles as it lies. */
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { Failure, UsageError } from "../exit_code.ts";
import type { Io } from "../io.ts";
import { resealed } from "../generate/seal.ts";
import { TEMPLATES } from "../templates.gen.ts";
import { checkName } from "./name.ts";
import { projectConfig } from "./project_config.ts";

/** Options for {@linkcode newOperator}. */
export interface NewOperatorOptions {
  /** The folder to make. @default {the name} */
  readonly dir?: string | undefined;
  /** Folder of a local SDK. */
  readonly sdk?: string | undefined;
}

/** The name that the template's files use; the new operator's stands in its place. */
const TEMPLATE_NAME = "website-operator";

/**
 * Makes a project. Either all of it is there afterwards or nothing is.
 *
 * @param name The operator's name.
 * @param options Additional options.
 * @param io The terminal and the shell.
 * @throws {UsageError} If the name is no RFC 1123 label.
 * @throws {Failure} If the folder is not empty, or the SDK's folder is not one.
 */
export async function newOperator(name: string, options: NewOperatorOptions, io: Io): Promise<void> {
  checkName(name);
  const folder = resolve(io.cwd, options.dir ?? name);
  if (options.sdk !== undefined) await checkSdk(resolve(io.cwd, options.sdk), options.sdk);
  await checkEmpty(folder);
  const files = render(name, { sdk: sdkAsSeenFrom(folder, options.sdk, io.cwd) });
  await writeAll(folder, files);
  const shown = options.dir ?? name;
  io.out(`Made operator "${name}" in ${shown}:\n\n`);
  for (const path of files.keys()) io.out(`  ${path}\n`);
  if (options.sdk === undefined) {
    io.out(`\nThe SDK is taken from jsr:@op/sdk; name a folder with --sdk to take it from there.\n`);
  }
  io.out(`\nNow:\n\n  cd ${shown}\n  deno task test\n  deno task compile\n`);
}

/**
 * The files of a project.
 *
 * @param name The operator's name.
 * @param options The folder of a local SDK, where there is one: absolute, or relative to the project.
 * @returns Path to text, in alphabetical order.
 */
export function render(name: string, options: { readonly sdk?: string | undefined } = {}): Map<string, string> {
  const files = Object.entries(TEMPLATES.operator).map(([path, text]) =>
    [path, resealed(text, text.replaceAll(TEMPLATE_NAME, name))] as const
  );
  return new Map([["deno.json", projectConfig(name, options)] as const, ...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A path that was given relative to where the user is stays relative, now to the project: both may move together. */
function sdkAsSeenFrom(folder: string, sdk: string | undefined, cwd: string): string | undefined {
  if (sdk === undefined || isAbsolute(sdk)) return sdk;
  return relative(folder, resolve(cwd, sdk)) || ".";
}

async function checkSdk(sdk: string, given: string): Promise<void> {
  const config = await Deno.readTextFile(join(sdk, "deno.json")).catch(() => undefined);
  if (config === undefined || !/"name":\s*"@op\/sdk"/.test(config)) {
    throw new UsageError(
      `Cannot use the SDK in "${given}": there is no deno.json of @op/sdk in that folder; name the folder that mod.ts is in`,
    );
  }
}

/** How many of a folder's entries are named before the rest is counted. */
const NAMED_ENTRIES = 5;

async function checkEmpty(folder: string): Promise<void> {
  const names: string[] = [];
  try {
    for await (const entry of Deno.readDir(folder)) names.push(entry.name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    if (error instanceof Deno.errors.NotADirectory) {
      throw new Failure(`Cannot make a project in "${folder}": that is a file; name another folder with --dir`);
    }
    throw error;
  }
  if (names.length === 0) return;
  names.sort();
  const rest = names.length > NAMED_ENTRIES ? ` and ${names.length - NAMED_ENTRIES} more` : "";
  const list = names.slice(0, NAMED_ENTRIES).map((name) => `"${name}"`).join(", ");
  throw new Failure(
    `Cannot make a project in "${folder}": it is not empty (${list}${rest}); name another folder with --dir`,
  );
}

/** Writes beside the folder, then moves into place: a project that could not be written leaves nothing behind. */
async function writeAll(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  try {
    await Deno.mkdir(dirname(folder), { recursive: true });
  } catch (error) {
    throw new Failure(
      `Cannot make the folder "${dirname(folder)}": ${(error as Error).message}; name another with --dir`,
    );
  }
  const beside = await Deno.makeTempDir({ dir: dirname(folder), prefix: `.${basename(folder)}-` });
  try {
    // A folder made for temporary files is open to its owner alone; a project is made as the user makes folders.
    const project = join(beside, "project");
    for (const [path, text] of files) {
      await Deno.mkdir(dirname(join(project, path)), { recursive: true });
      await Deno.writeTextFile(join(project, path), text);
    }
    if (await exists(folder)) await moveEntries(project, folder);
    else await Deno.rename(project, folder);
  } finally {
    await Deno.remove(beside, { recursive: true });
  }
}

/** Fills an empty folder that may be somebody's working directory, which would be lost if another took its place. */
async function moveEntries(from: string, to: string): Promise<void> {
  for await (const { name } of Deno.readDir(from)) await Deno.rename(join(from, name), join(to, name));
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}
