/** `op generate`: writes files with an operator's manifests, generated from its declarations. */
import { dirname, join, resolve } from "node:path";
import type { InstallOptions } from "@op/sdk/operator";
import { warnOfDefinitions } from "../crd/definition_warnings.ts";
import { counted } from "../plural.ts";
import { sourceFile } from "../deno.ts";
import { Failure, UsageError } from "../exit_code.ts";
import { replaceFiles } from "../atomic_files.ts";
import { inspect, type OperatorFacts } from "../inspect.ts";
import type { Io } from "../io.ts";
import { commitFor, needsCommit, projectFile, type ProjectOptions } from "../project_file.ts";
import { layout, type LayoutPart, rejectionsOf, sampleFile } from "./layout.ts";
import { overlay } from "./overlay.ts";
import { isUntouched } from "./seal.ts";

/** Where and how the operator is installed. */
export interface PlaceOptions extends ProjectOptions {
  /** The namespace of the operator's Deployment. */
  readonly into?: string | undefined;
  /** The only namespaces that the operator watches. */
  readonly namespace?: readonly string[] | undefined;
  readonly image?: string | undefined;
  /** The source of the webhook certificate. */
  readonly certificates?: InstallOptions["certificates"] | undefined;
  /** Whether the operator's webhooks review its samples. @default {false} */
  readonly reviewsSamples?: boolean | undefined;
}

/** Options for {@linkcode generate}. */
export interface GenerateOptions extends PlaceOptions {
  /** The folder for the files. */
  readonly dir: string;
  /** Overwrite files that were edited by hand. */
  readonly force?: boolean | undefined;
  /** Write no file; fail if one differs. */
  readonly check?: boolean | undefined;
}

/**
 * Generates all files, or those of one part.
 *
 * @param part The part.
 * @param file The file whose default export is the operator.
 * @param options The folder, and how the operator is installed.
 * @param io The terminal and the shell.
 * @throws {Failure} If a file was edited by hand; no file is written then. With `check`, if a file
 *   differs from what would be generated.
 */
export async function generate(part: LayoutPart, file: string, options: GenerateOptions, io: Io): Promise<void> {
  const folder = await folderOf(options.dir, io);
  const hasSamples = part === "manifests" || part === "crd";
  const reviewed = { ...options, reviewsSamples: hasSamples };
  const facts = await factsOf(file, options.check ? await withCommittedImage(file, reviewed, io) : reviewed, io);
  if (hasSamples) {
    await warnOfSamples(facts, folder, io);
    warnOfDefinitions(facts.manifests.crd, io);
  }
  const files = layout(part, facts);
  const states = await statesOf(files, folder);
  if (options.check) return check(states, options.dir, io);
  const changed = states.filter(({ state }) => state === "edited by hand");
  if (changed.length > 0 && options.force !== true) {
    throw new Failure(
      `Cannot write ${
        list(changed, options.dir)
      }: edited by hand. Move the edits into an overlay, or add --force to discard them.`,
    );
  }
  await writeAll(states, options.dir, io);
}

/**
 * Generates an overlay, unless it exists.
 *
 * @param name The overlay's name, such as `prod`. `local` is for a cluster on this machine, and
 *   `split` runs controllers and webhooks in separate Deployments.
 * @param file The file whose default export is the operator.
 * @param options The folder, and how the operator is installed.
 * @param io The terminal and the shell.
 * @throws {UsageError} If the name is invalid.
 * @throws {Failure} If the overlay exists.
 */
export async function generateOverlay(name: string, file: string, options: GenerateOptions, io: Io): Promise<void> {
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name)) {
    throw new UsageError(
      `Cannot generate overlay "${name}": use only lowercase letters, digits and dashes in its name.`,
    );
  }
  const folder = await folderOf(options.dir, io);
  const { image, ...base } = options;
  const facts = await factsOf(file, image === undefined ? base : await withCommittedImage(file, base, io), io);
  const states = await statesOf(overlayFiles(name, facts, image), folder);
  const existing = states.filter(({ state }) => state !== "missing");
  if (existing.length > 0 && options.force !== true) {
    throw new Failure(
      `Cannot generate overlay "${name}": ${list(existing, options.dir)} exists. Add --force to overwrite it.`,
    );
  }
  await writeAll(states, options.dir, io);
}

/**
 * Warns about generated samples that an API server would reject. Samples that were edited are not
 * checked.
 */
async function warnOfSamples(facts: OperatorFacts, folder: string, io: Io): Promise<void> {
  for (const sample of facts.samples) {
    const { apiVersion, kind } = sample.manifest;
    const [rejection] = rejectionsOf(sample, facts.rejections);
    const file = await contentOf(join(folder, "samples", sampleFile(sample)));
    if (rejection === undefined || (file !== undefined && !isUntouched(file))) continue;
    io.err(
      `Warning: the generated sample of ${kind} (${apiVersion}) is not valid: ${rejection}. Set "example" in the schema, or correct the sample.\n`,
    );
  }
}

/** Converts options of a command to the SDK's `InstallOptions`. */
export function installOptions({ into, namespace, image, certificates }: PlaceOptions): InstallOptions {
  return {
    ...(into === undefined ? {} : { namespace: into }),
    ...(namespace === undefined ? {} : { watchNamespaces: namespace }),
    ...(image === undefined ? {} : { image }),
    ...(certificates === undefined ? {} : { certificates }),
  };
}

/**
 * Returns the declarations of an operator, with the manifests of an installation.
 *
 * @param file The file whose default export is the operator.
 * @param options Where and how the operator is installed.
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

/**
 * A placeholder image for commands that do not print the Deployment. With it they also work without
 * a Git commit, from which the image's tag may be derived.
 */
export const NO_IMAGE = "unneeded";

/**
 * Returns the options with the image of the existing Deployment if the tag is the Git commit.
 * Otherwise `--check` would find a different tag after each commit.
 */
async function withCommittedImage(file: string, options: GenerateOptions, io: Io): Promise<GenerateOptions> {
  if (options.image !== undefined) return options;
  const source = await sourceFile(file, io);
  if (!needsCommit(await projectFile(source, options, io))) return options;
  const deployment = await contentOf(join(resolve(io.cwd, options.dir), "manager/deployment.yaml"));
  const image = /^ +(?:- )?image: (\S+)$/m.exec(deployment ?? "")?.[1];
  return image === undefined ? options : { ...options, image };
}

/** A file to generate, and its current state. */
interface FileState {
  readonly path: string;
  readonly file: string;
  readonly text: string;
  readonly state: "missing" | "up to date" | "outdated" | "edited by hand" | "obsolete";
}

async function statesOf(files: ReadonlyMap<string, string>, folder: string): Promise<FileState[]> {
  const states = await Promise.all([...files].map(async ([file, text]): Promise<FileState> => {
    const path = join(folder, file);
    const state = stateOf(await contentOf(path), text);
    // A sample is only a starting point, so edits are kept.
    return { path, file, text, state: state === "edited by hand" && isSample(file) ? "up to date" : state };
  }));
  return [...states, ...await obsoleteFiles(files, folder)];
}

/** Returns generated, unedited files that belong to deleted kinds and roles. */
async function obsoleteFiles(files: ReadonlyMap<string, string>, folder: string): Promise<FileState[]> {
  const obsolete: FileState[] = [];
  for (const subfolder of new Set([...files.keys()].map((file) => dirname(file)))) {
    const names = await Array.fromAsync(Deno.readDir(join(folder, subfolder))).catch(() => []);
    for (const { name, isFile } of names.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const [file, path] = [`${subfolder}/${name}`, join(folder, subfolder, name)];
      if (!isFile || files.has(file) || !isUntouched(await contentOf(path) ?? "")) continue;
      obsolete.push({ path, file, text: "", state: "obsolete" });
    }
  }
  return obsolete;
}

/** Returns the path of the folder for the files, and checks that it is not a file. */
async function folderOf(dir: string, io: Io): Promise<string> {
  const folder = resolve(io.cwd, dir);
  if (await Deno.stat(folder).then(({ isFile }) => isFile, () => false)) {
    throw new UsageError(`Cannot write into "${dir}": it is a file. Name a folder with --dir.`);
  }
  return folder;
}

async function contentOf(path: string): Promise<string | undefined> {
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

function stateOf(existing: string | undefined, generated: string): FileState["state"] {
  if (existing === undefined) return "missing";
  if (existing === generated) return "up to date";
  return isUntouched(existing) ? "outdated" : "edited by hand";
}

function check(states: readonly FileState[], dir: string, io: Io): void {
  const wrong = states.filter(({ state }) => state !== "up to date");
  if (wrong.length === 0) return io.out(`${dir} is up to date (${counted(states.length, "file")})\n`);
  for (const { file, state } of wrong) io.err(`${state}: ${dir}/${file}\n`);
  throw new Failure(
    `${wrong.length} of ${
      counted(states.length, "file")
    } in "${dir}" differ from the operator's declarations. Run "op generate manifests" to update them.`,
  );
}

async function writeAll(states: readonly FileState[], dir: string, io: Io): Promise<void> {
  const changes = states.filter(({ state }) => state !== "up to date");
  const files = changes.filter(({ state }) => state !== "obsolete");
  const obsolete = changes.filter(({ state }) => state === "obsolete");
  await replaceFiles(
    files.map(({ path, text }) => ({ path, content: text })),
    obsolete.map(({ path }) => path),
    io,
  );
  for (const { file, state } of changes) io.out(`${dir}/${file}${state === "obsolete" ? " (removed)" : ""}\n`);
  if (changes.length === 0) io.out(`Nothing to do: ${dir} is up to date (${counted(states.length, "file")})\n`);
}

function overlayFiles(name: string, facts: OperatorFacts, image: string | undefined): Map<string, string> {
  try {
    return overlay(name, facts, image);
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error;
  }
}

function list(states: readonly FileState[], dir: string): string {
  return states.map(({ file }) => `"${dir}/${file}"`).join(", ");
}
