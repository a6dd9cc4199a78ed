/** `op crd docs`: a reference page of kinds. */
import { resolve } from "node:path";
import { runningDeno, sourceFile } from "../deno.ts";
import { Failure, UsageError } from "../exit_code.ts";
import { type Definition, definitionsIn } from "../import/definition.ts";
import { definitionsOfFile } from "../import/source.ts";
import { inspect } from "../inspect.ts";
import type { Io } from "../io.ts";
import { pageOf } from "./page.ts";

/** Options of {@linkcode crdDocs}. */
export interface CrdDocsOptions {
  /** The file to write. @default {standard output} */
  readonly output?: string | undefined;
  /** Replace the file if it is there. */
  readonly force?: boolean | undefined;
}

/** What has an operator in it; everything else has definitions. */
const PROGRAM = /\.[cm]?[jt]sx?$/;

/**
 * Writes a reference page of the kinds in a file, as Markdown.
 *
 * @param file A file whose default export is an operator, one with CustomResourceDefinitions as YAML or JSON, or `-` for standard input.
 * @param options Additional options.
 * @param io The terminal and the shell.
 * @param stdin What standard input holds.
 * @throws {UsageError} If there is something to force and no file to write.
 * @throws {Failure} If there is no kind in the file, or the page cannot be written. The output is then as it was before.
 */
export async function crdDocs(
  file: string,
  options: CrdDocsOptions,
  io: Io,
  stdin?: () => Promise<string>,
): Promise<void> {
  const { output, force = false } = options;
  if (force && output === undefined) {
    throw new UsageError("Cannot force anything: name the file to write with --output");
  }
  if (output !== undefined && !force) await checkFree(resolve(io.cwd, output), output);
  const page = pageOf(await definitionsOf(file, io, stdin));
  if (output === undefined) io.out(page);
  else await write(resolve(io.cwd, output), output, page);
}

async function definitionsOf(file: string, io: Io, stdin?: () => Promise<string>): Promise<Definition[]> {
  try {
    if (!PROGRAM.test(file)) return await definitionsOfFile(file, io, stdin);
    const source = await sourceFile(file, io);
    const facts = await inspect(runningDeno(), source.url, source.folder, file);
    if (facts.crds.length > 0) return definitionsIn(facts.crds);
  } catch (error) {
    // Files are read and definitions checked as for `op import`; what cannot be done here is another thing.
    if (!(error instanceof Failure)) throw error;
    throw new Failure(error.message.replace(/^Cannot import( from)?/, "Cannot document"), { cause: error });
  }
  throw new Failure(`Cannot document "${file}": its operator has no kinds of its own`);
}

async function checkFree(path: string, shown: string): Promise<void> {
  if (await Deno.lstat(path).then(() => true, () => false)) {
    throw new Failure(`Cannot write "${shown}": it is there already; name another file, or say --force`);
  }
}

/** Writes beside the file, then moves into place: a file that could not be written is as it was before. */
async function write(path: string, shown: string, page: string): Promise<void> {
  const beside = `${path}.op-crd-docs-${crypto.randomUUID()}`;
  try {
    await Deno.writeTextFile(beside, page);
    await Deno.rename(beside, path);
  } catch (error) {
    await Deno.remove(beside).catch(() => {});
    const why = error instanceof Deno.errors.NotFound ? "there is no such folder" : (error as Error).message;
    throw new Failure(`Cannot write "${shown}": ${why}`, { cause: error });
  }
}
