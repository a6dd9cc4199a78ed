/** `op new operator`: creates a project that passes its checks and tests, and can be compiled. */
import { isAbsolute, join, relative, resolve } from "node:path";
import { Failure, UsageError } from "../exit_code.ts";
import type { Io } from "../io.ts";
import { generate } from "../generate/generate.ts";
import { resealed } from "../generate/seal.ts";
import { TEMPLATES } from "../templates.gen.ts";
import { controllerFiles } from "./controller.ts";
import { makeFolder } from "./atomic_folder.ts";
import { type KindNames, kindNames, type KindOptions } from "./kind_names.ts";
import { checkName } from "./name.ts";
import { formatFolder } from "./project.ts";
import { projectConfig } from "./project_config.ts";

/** Options for {@linkcode newOperator}. */
export interface NewOperatorOptions {
  /** The folder to create. @default {the name} */
  readonly dir?: string | undefined;
  /** The folder of a local SDK. */
  readonly sdk?: string | undefined;
  /** The first kind. @default {Website} */
  readonly kind?: string | undefined;
  /** The version of that kind. @default {v1} */
  readonly apiVersion?: string | undefined;
  /** The group of that kind. @default {demo.example.com} */
  readonly group?: string | undefined;
}

/** The name in the template's files, which is replaced. */
const TEMPLATE_NAME = "website-operator";
/** The ID in the template's files. Each project gets its own. */
const TEMPLATE_ID = "00000000-0000-4000-8000-000000000000";
/** The kind in the template. */
const TEMPLATE_KIND: KindOptions = { kind: "Website", apiVersion: "v1", group: "demo.example.com" };

/**
 * Creates a project. After an error, none of its files exists.
 *
 * @param name The operator's name.
 * @param options Additional options.
 * @param io The terminal and the shell.
 * @throws {UsageError} If the name is not an RFC 1123 label, or the folder of the SDK has no SDK.
 * @throws {Failure} If the folder is not empty.
 */
export async function newOperator(name: string, options: NewOperatorOptions, io: Io): Promise<void> {
  checkName(name);
  const folder = resolve(io.cwd, options.dir ?? name);
  if (options.sdk !== undefined) await checkSdk(resolve(io.cwd, options.sdk), options.sdk);
  await checkEmpty(folder);
  const kind = firstKind(options);
  const files = render(name, { sdk: sdkPathFrom(folder, options.sdk, io.cwd), kind });
  await makeFolder(folder, files, io, kind === undefined ? undefined : (temporary) => complete(temporary, io));
  const shown = options.dir ?? name;
  io.out(`Created operator "${name}" in ${shown}:\n\n`);
  for (const path of await filesIn(folder)) io.out(`  ${path}\n`);
  if (options.sdk === undefined) {
    io.out(
      `\nThe project imports jsr:@op/sdk, which is not published yet. To use the SDK from a folder, add --sdk FOLDER.\n`,
    );
  }
  io.out(`\nNext:\n\n  cd ${shown}\n  deno task test\n  deno task compile\n`);
}

/**
 * Returns the files of a project.
 *
 * @param name The operator's name.
 * @param options The folder of a local SDK, absolute or relative to the project, and the first
 *   kind. The operator's ID is random by default.
 * @returns Content by path, in alphabetical order.
 */
export function render(
  name: string,
  { kind, id = crypto.randomUUID(), ...options }: {
    readonly sdk?: string | undefined;
    readonly kind?: KindNames | undefined;
    readonly id?: string;
  } = {},
): Map<string, string> {
  const template = Object.entries(TEMPLATES.operator).map(([path, text]) =>
    [path, resealed(text, text.replaceAll(TEMPLATE_NAME, name).replaceAll(TEMPLATE_ID, id))] as const
  );
  const files = kind === undefined ? template : withKind(template, kind);
  return new Map([["deno.json", projectConfig(name, options)] as const, ...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the requested kind, or `undefined` for that of the template. */
function firstKind(
  { kind = TEMPLATE_KIND.kind, apiVersion = TEMPLATE_KIND.apiVersion, group = TEMPLATE_KIND.group }: NewOperatorOptions,
): KindNames | undefined {
  if (kind === TEMPLATE_KIND.kind && apiVersion === TEMPLATE_KIND.apiVersion && group === TEMPLATE_KIND.group) {
    return undefined;
  }
  return kindNames({ kind, apiVersion, group });
}

/** Replaces the kind in the template. Generated manifests are omitted. */
function withKind(files: readonly (readonly [string, string])[], kind: KindNames): (readonly [string, string])[] {
  const own = `${TEMPLATE_KIND.kind.toLowerCase()}/`;
  const isKept = (path: string) =>
    !path.startsWith(own) && (!path.startsWith("config/") || path.startsWith("config/overlays/"));
  const shared = files.filter(([path]) => isKept(path)).map(([path, text]) => {
    const named = text.replaceAll(own, `${kind.folder}/`).replaceAll("websites", kind.part);
    if (path !== "README.md") return [path, named] as const;
    const withVersion = named.replaceAll(
      `${kind.folder}/${TEMPLATE_KIND.apiVersion}.ts`,
      `${kind.folder}/${kind.apiVersion}.ts`,
    );
    return [path, withVersion.replace(/\nChange the group .*\n/, "")] as const;
  });
  const added = [...controllerFiles(kind, kind.part)].map(([name, text]) => [`${kind.folder}/${name}`, text] as const);
  return [...shared, ...added];
}

/**
 * Formats the files and generates the manifests. Without Deno, the project lacks only `config/`.
 */
async function complete(folder: string, io: Io): Promise<void> {
  await formatFolder(folder);
  const quiet: Io = { out() {}, err() {}, cwd: folder, env: io.env };
  try {
    await generate("manifests", "main.ts", { dir: "config" }, quiet);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    io.err(
      `Warning: config/ was not generated: ${error.message.split("\n")[0]}\nGenerate it with "deno task generate".\n\n`,
    );
  }
}

/** Returns the relative paths of all files, in alphabetical order. */
async function filesIn(folder: string, prefix = ""): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(join(folder, prefix))) {
    found.push(...isDirectory ? await filesIn(folder, `${prefix}${name}/`) : [`${prefix}${name}`]);
  }
  return found.sort();
}

/**
 * Returns the path of the SDK from the project. A relative path remains relative, so that both can
 * be moved together.
 */
function sdkPathFrom(folder: string, sdk: string | undefined, cwd: string): string | undefined {
  if (sdk === undefined || isAbsolute(sdk)) return sdk;
  return relative(folder, resolve(cwd, sdk)) || ".";
}

async function checkSdk(sdk: string, given: string): Promise<void> {
  const config = await Deno.readTextFile(join(sdk, "deno.json")).catch(() => undefined);
  if (config === undefined || !/"name":\s*"@op\/sdk"/.test(config)) {
    throw new UsageError(
      `Cannot use the SDK in "${given}": it has no deno.json of @op/sdk. Name the folder that has mod.ts.`,
    );
  }
}

/** The number of entries that a message names. */
const NAMED_ENTRIES = 5;

async function checkEmpty(folder: string): Promise<void> {
  const names: string[] = [];
  try {
    for await (const entry of Deno.readDir(folder)) names.push(entry.name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    if (error instanceof Deno.errors.NotADirectory) {
      throw new Failure(`Cannot create a project in "${folder}": it is a file. Name another folder with --dir.`);
    }
    throw error;
  }
  if (names.length === 0) return;
  names.sort();
  const rest = names.length > NAMED_ENTRIES ? ` and ${names.length - NAMED_ENTRIES} more` : "";
  const list = names.slice(0, NAMED_ENTRIES).map((name) => `"${name}"`).join(", ");
  throw new Failure(
    `Cannot create a project in "${folder}": it is not empty (${list}${rest}). Name another folder with --dir.`,
  );
}
