/** `op generate`: the files of an operator's manifests, made from its declarations. */
import { dirname, join, resolve } from "node:path";
import type { InstallOptions } from "@op/sdk/operator";
import { warnOfDefinitions } from "../crd/definition_warnings.ts";
import { counted } from "../plural.ts";
import { sourceFile } from "../deno.ts";
import { Failure, UsageError } from "../exit_code.ts";
import { replaceTogether } from "../files_together.ts";
import { inspect, type OperatorFacts } from "../inspect.ts";
import type { Io } from "../io.ts";
import { commitFor, namesCommit, projectFile, type ProjectOptions } from "../project_file.ts";
import { layout, type LayoutPart, refusalsOf, sampleFile } from "./layout.ts";
import { overlay } from "./overlay.ts";
import { isUntouched } from "./seal.ts";

/** Where and how the operator is installed. */
export interface PlaceOptions extends ProjectOptions {
  /** The namespace that it runs in. */
  readonly into?: string | undefined;
  /** The only namespaces that it looks at. */
  readonly namespace?: readonly string[] | undefined;
  readonly image?: string | undefined;
  /** Where the certificate of its webhooks comes from. */
  readonly certificates?: InstallOptions["certificates"] | undefined;
  /** Whether the operator's webhooks review its samples. @default {false} */
  readonly reviewsSamples?: boolean | undefined;
}

/** Options for {@linkcode generate}. */
export interface GenerateOptions extends PlaceOptions {
  /** The folder of the files. */
  readonly dir: string;
  /** Replace files that were changed by hand. */
  readonly force?: boolean | undefined;
  /** Write nothing; fail if something would be. */
  readonly check?: boolean | undefined;
}

/**
 * Makes the files, or those of one part.
 *
 * @param part Which.
 * @param file The file whose default export is the operator.
 * @param options Where to, and how.
 * @param io The terminal and the shell.
 * @throws {Failure} If a file was changed by hand; nothing is written then. With `check`, if the files are not what the operator declares.
 */
export async function generate(part: LayoutPart, file: string, options: GenerateOptions, io: Io): Promise<void> {
  const folder = await folderOf(options.dir, io);
  const hasSamples = part === "manifests" || part === "crd";
  const asked = { ...options, reviewsSamples: hasSamples };
  const facts = await factsOf(file, options.check ? await asCommitted(file, asked, io) : asked, io);
  if (hasSamples) {
    await warnOfSamples(facts, folder, io);
    warnOfDefinitions(facts.manifests.crd, io);
  }
  const files = layout(part, facts);
  const states = await statesOf(files, folder);
  if (options.check) return check(states, options.dir, io);
  const changed = states.filter(({ state }) => state === "changed by hand");
  if (changed.length > 0 && options.force !== true) {
    throw new Failure(
      `Cannot write ${
        list(changed, options.dir)
      }: changed by hand; put the change into an overlay, or say --force to lose it`,
    );
  }
  await writeAll(states, options.dir, io);
}

/**
 * Makes an overlay, unless it is there.
 *
 * @param name The overlay's name, such as `prod`; `local` is for a cluster on this machine, `split` runs controllers and webhooks apart.
 * @param file The file whose default export is the operator.
 * @param options Where to, and how.
 * @param io The terminal and the shell.
 * @throws {UsageError} If the name is none.
 * @throws {Failure} If the overlay is there already.
 */
export async function generateOverlay(name: string, file: string, options: GenerateOptions, io: Io): Promise<void> {
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name)) {
    throw new UsageError(`Cannot make an overlay "${name}": its name must be small letters, digits and dashes`);
  }
  const folder = await folderOf(options.dir, io);
  const facts = await factsOf(file, options, io);
  const states = await statesOf(filesOf(name, facts), folder);
  const there = states.filter(({ state }) => state !== "missing");
  if (there.length > 0 && options.force !== true) {
    throw new Failure(`Cannot make overlay "${name}": ${list(there, options.dir)} is there; say --force to replace it`);
  }
  await writeAll(states, options.dir, io);
}

/** Warns of generated samples that a server would refuse. One that somebody changed is theirs. */
async function warnOfSamples(facts: OperatorFacts, folder: string, io: Io): Promise<void> {
  for (const sample of facts.samples) {
    const { apiVersion, kind } = sample.manifest;
    const [refusal] = refusalsOf(sample, facts.refusals);
    const file = await textIn(join(folder, "samples", sampleFile(sample)));
    if (refusal === undefined || (file !== undefined && !isUntouched(file))) continue;
    io.err(
      `Warning: the generated sample of ${kind} (${apiVersion}) is not valid: ${refusal}. Set "example" in the schema, or correct the sample\n`,
    );
  }
}

/** Options of an operator's installation as the SDK takes them. */
export function installOptions({ into, namespace, image, certificates }: PlaceOptions): InstallOptions {
  return {
    ...(into === undefined ? {} : { namespace: into }),
    ...(namespace === undefined ? {} : { watchNamespaces: namespace }),
    ...(image === undefined ? {} : { image }),
    ...(certificates === undefined ? {} : { certificates }),
  };
}

/**
 * What an operator says of itself, installed so.
 *
 * @param file The file whose default export is the operator.
 * @param options Where and how it is installed.
 * @param io The terminal and the shell.
 */
export async function factsOf(file: string, options: PlaceOptions, io: Io): Promise<OperatorFacts> {
  const source = await sourceFile(file, io);
  const project = await projectFile(source, options, io);
  const commit = options.image === undefined ? await commitFor(project, source) : undefined;
  const install = { ...installOptions(options), ...(commit === undefined ? {} : { commit }) };
  const { reviewsSamples } = options;
  return await inspect(source.url, source.folder, file, io, { install, project, reviewsSamples });
}

/** For what has no image, and must not fail for want of one. */
export const NO_IMAGE = "unneeded";

/** A tag that names the commit is another one with each commit, the one with the files as well: what is committed is taken for right. */
async function asCommitted(file: string, options: GenerateOptions, io: Io): Promise<GenerateOptions> {
  if (options.image !== undefined) return options;
  const source = await sourceFile(file, io);
  if (!namesCommit(await projectFile(source, options, io))) return options;
  const deployment = await textIn(join(resolve(io.cwd, options.dir), "manager/deployment.yaml"));
  const image = /^ +(?:- )?image: (\S+)$/m.exec(deployment ?? "")?.[1];
  return image === undefined ? options : { ...options, image };
}

/** A file that is to be, and how it is now. */
interface FileState {
  readonly path: string;
  readonly file: string;
  readonly text: string;
  readonly state: "missing" | "as wanted" | "outdated" | "changed by hand" | "no longer made";
}

async function statesOf(files: ReadonlyMap<string, string>, folder: string): Promise<FileState[]> {
  const states = await Promise.all([...files].map(async ([file, text]): Promise<FileState> => {
    const path = join(folder, file);
    const state = stateOf(await textIn(path), text);
    // A sample is a beginning: who changed it keeps it.
    return { path, file, text, state: state === "changed by hand" && isSample(file) ? "as wanted" : state };
  }));
  return [...states, ...await leftOver(files, folder)];
}

/** Files that were made when there was a kind or a role that is gone now, and that nobody changed. */
async function leftOver(files: ReadonlyMap<string, string>, folder: string): Promise<FileState[]> {
  const left: FileState[] = [];
  for (const below of new Set([...files.keys()].map((file) => dirname(file)))) {
    const names = await Array.fromAsync(Deno.readDir(join(folder, below))).catch(() => []);
    for (const { name, isFile } of names.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const [file, path] = [`${below}/${name}`, join(folder, below, name)];
      if (!isFile || files.has(file) || !isUntouched(await textIn(path) ?? "")) continue;
      left.push({ path, file, text: "", state: "no longer made" });
    }
  }
  return left;
}

/** The folder that files are made in. */
async function folderOf(dir: string, io: Io): Promise<string> {
  const folder = resolve(io.cwd, dir);
  if (await Deno.stat(folder).then(({ isFile }) => isFile, () => false)) {
    throw new UsageError(`Cannot write into "${dir}": that is a file; name a folder with --dir`);
  }
  return folder;
}

async function textIn(path: string): Promise<string | undefined> {
  try {
    return (await Deno.readTextFile(path)).replaceAll("\r\n", "\n");
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw new Failure(`Cannot read "${path}": ${(error as Error).message}`, { cause: error });
  }
}

function isSample(file: string): boolean {
  return file.startsWith("samples/") && !file.endsWith("/kustomization.yaml");
}

function stateOf(now: string | undefined, text: string): FileState["state"] {
  if (now === undefined) return "missing";
  if (now === text) return "as wanted";
  return isUntouched(now) ? "outdated" : "changed by hand";
}

function check(states: readonly FileState[], dir: string, io: Io): void {
  const wrong = states.filter(({ state }) => state !== "as wanted");
  if (wrong.length === 0) return io.out(`${dir} is what the operator declares (${counted(states.length, "file")})\n`);
  for (const { file, state } of wrong) io.err(`${state}: ${dir}/${file}\n`);
  throw new Failure(
    `${wrong.length} of ${counted(states.length, "file")} in "${dir}" ${
      wrong.length === 1 ? "is" : "are"
    } not what the operator declares: run "op generate manifests" to update them`,
  );
}

/** Each file in one step: whoever reads meanwhile sees the old or the new one, whole. */
async function writeAll(states: readonly FileState[], dir: string, io: Io): Promise<void> {
  const wanted = states.filter(({ state }) => state !== "as wanted");
  const [gone, files] = [true, false].map((isGone) =>
    wanted.filter(({ state }) => (state === "no longer made") === isGone)
  ) as [FileState[], FileState[]];
  await replaceTogether(files.map(({ path, text }) => ({ path, content: text })), gone.map(({ path }) => path), io);
  for (const { file, state } of wanted) io.out(`${dir}/${file}${state === "no longer made" ? " (removed)" : ""}\n`);
  if (wanted.length === 0) {
    io.out(
      `Nothing to do: ${counted(states.length, "file")} in ${dir} ${
        states.length === 1 ? "is" : "are"
      } what the operator declares\n`,
    );
  }
}

function filesOf(name: string, facts: OperatorFacts): Map<string, string> {
  try {
    return overlay(name, facts);
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error;
  }
}

function list(states: readonly FileState[], dir: string): string {
  return states.map(({ file }) => `"${dir}/${file}"`).join(", ");
}
