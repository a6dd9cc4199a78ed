/** `op new operator`: a project that checks, lints, tests and compiles as it lies. */
import { isAbsolute, join, relative, resolve } from "node:path";
import { Failure, UsageError } from "../exit_code.ts";
import type { Io } from "../io.ts";
import { generate } from "../generate/generate.ts";
import { resealed } from "../generate/seal.ts";
import { TEMPLATES } from "../templates.gen.ts";
import { controllerFiles } from "./controller.ts";
import { makeFolder } from "./files_whole.ts";
import { type KindNames, kindNames, type KindOptions } from "./kind_names.ts";
import { checkName } from "./name.ts";
import { formatFolder } from "./project.ts";
import { projectConfig } from "./project_config.ts";

/** Options for {@linkcode newOperator}. */
export interface NewOperatorOptions {
  /** The folder to make. @default {the name} */
  readonly dir?: string | undefined;
  /** Folder of a local SDK. */
  readonly sdk?: string | undefined;
  /** Its first kind. @default {a Website} */
  readonly kind?: string | undefined;
  /** The version of that kind. @default {v1} */
  readonly apiVersion?: string | undefined;
  /** The group of that kind. @default {demo.example.com} */
  readonly group?: string | undefined;
}

/** The name that the template's files use; the new operator's stands in its place. */
const TEMPLATE_NAME = "website-operator";
/** The ID that the template's files use; each new operator gets one of its own. */
const TEMPLATE_ID = "00000000-0000-4000-8000-000000000000";
/** The kind that the template has. */
const OWN: KindOptions = { kind: "Website", apiVersion: "v1", group: "demo.example.com" };

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
  const kind = firstKind(options);
  const files = render(name, { sdk: sdkAsSeenFrom(folder, options.sdk, io.cwd), kind });
  await makeFolder(folder, files, io, kind === undefined ? undefined : (whole) => complete(whole, io));
  const shown = options.dir ?? name;
  io.out(`Made operator "${name}" in ${shown}:\n\n`);
  for (const path of await filesIn(folder)) io.out(`  ${path}\n`);
  if (options.sdk === undefined) {
    io.out(
      `\nThe project imports jsr:@op/sdk, which is not published yet. To use the SDK from a folder, add --sdk FOLDER.\n`,
    );
  }
  io.out(`\nNow:\n\n  cd ${shown}\n  deno task test\n  deno task compile\n`);
}

/**
 * The files of a project.
 *
 * @param name The operator's name.
 * @param options The folder of a local SDK, where there is one: absolute, or relative to the
 * project. The operator's ID is random by default.
 * @returns Path to text, in alphabetical order.
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

/** The kind that was asked for; nothing where it is the template's own. */
function firstKind(
  { kind = OWN.kind, apiVersion = OWN.apiVersion, group = OWN.group }: NewOperatorOptions,
): KindNames | undefined {
  if (kind === OWN.kind && apiVersion === OWN.apiVersion && group === OWN.group) return undefined;
  return kindNames({ kind, apiVersion, group });
}

/**
 * The template with another kind in the place of its own; what is made from its declarations is
 * left out.
 */
function withKind(files: readonly (readonly [string, string])[], kind: KindNames): (readonly [string, string])[] {
  const own = `${OWN.kind.toLowerCase()}/`;
  const isKept = (path: string) =>
    !path.startsWith(own) && (!path.startsWith("config/") || path.startsWith("config/overlays/"));
  const shared = files.filter(([path]) => isKept(path)).map(([path, text]) => {
    const named = text.replaceAll(own, `${kind.folder}/`).replaceAll("websites", kind.part);
    if (path !== "README.md") return [path, named] as const;
    const withVersion = named.replaceAll(`${kind.folder}/${OWN.apiVersion}.ts`, `${kind.folder}/${kind.apiVersion}.ts`);
    return [path, withVersion.replace(/\nChange the group .*\n/, "")] as const;
  });
  const made = [...controllerFiles(kind, kind.part)].map(([name, text]) => [`${kind.folder}/${name}`, text] as const);
  return [...shared, ...made];
}

/**
 * What needs Deno: the style, and what is made from the declarations. Without it the project is
 * whole, but for `config/`.
 */
async function complete(folder: string, io: Io): Promise<void> {
  await formatFolder(folder);
  const quiet: Io = { out() {}, err() {}, cwd: folder, env: io.env };
  try {
    await generate("manifests", "main.ts", { dir: "config" }, quiet);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    io.err(`config/ is not made yet: ${error.message.split("\n")[0]}\nMake it with "deno task generate".\n\n`);
  }
}

/** Paths of all files, from the folder on, in alphabetical order. */
async function filesIn(folder: string, above = ""): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(join(folder, above))) {
    found.push(...isDirectory ? await filesIn(folder, `${above}${name}/`) : [`${above}${name}`]);
  }
  return found.sort();
}

/**
 * A path that was given relative to where the user is stays relative, now to the project: both may
 * move together.
 */
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
