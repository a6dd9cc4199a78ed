/** `op new controller`: adds a kind, its controller and a test to a project. */
import { join } from "node:path";
import { sourceFile } from "../deno.ts";
import { Failure, UsageError } from "../exit_code.ts";
import { inspect, type OperatorFacts } from "../inspect.ts";
import type { Io } from "../io.ts";
import { TEMPLATES } from "../templates.gen.ts";
import { exists } from "./atomic_folder.ts";
import { type KindNames, kindNames, type KindOptions } from "./kind_names.ts";
import { type AddOptions, addToProject } from "./project.ts";

/** Options for {@linkcode newController}. */
export interface NewControllerOptions extends KindOptions, AddOptions {
  /** The key in the operator's parts. @default {the plural name} */
  readonly part?: string | undefined;
}

/**
 * Adds a controller to a project.
 *
 * @param file The file whose default export is the operator.
 * @param options The kind, and the key of the controller.
 * @param io The terminal and the shell.
 * @throws {UsageError} If the kind is not valid.
 * @throws {Failure} If the operator already has the kind or cannot be loaded, or a file would be
 *   overwritten.
 */
export async function newController(file: string, options: NewControllerOptions, io: Io): Promise<void> {
  const names = kindNames(options);
  const key = partKey(options.part ?? names.part);
  const main = await sourceFile(file, io);
  const facts = await inspect(main.url, main.folder, file, io);
  rejectExistingKind(names, facts, file);
  const folder = await folderFor(names, main.folder);
  const files = controllerFiles(names, key);
  const part = { key, from: `./${folder}/controller.ts` };
  const created = await addToProject(main, { part, folder, files }, options, io);
  io.out(`Created controller "${key}" of ${names.kind}:\n\n${created.map((path) => `  ${path}\n`).join("")}`);
  io.out(
    `\nNext, edit ${folder}/, then:\n\n  deno task generate\n  deno task test\n`,
  );
}

/**
 * Returns the files of a controller.
 *
 * @param names The kind.
 * @param key The key in the operator's parts.
 * @returns Content by file name.
 */
export function controllerFiles(names: KindNames, key: string): Map<string, string> {
  const { kind, apiVersion, group, isBuiltin } = names;
  if (isBuiltin) {
    return rendered(TEMPLATES.builtin_controller, [["namespaces", key], ["a Namespace", `${articleOf(kind)} ${kind}`], [
      "Namespace",
      kind,
    ]]);
  }
  const files = rendered(TEMPLATES.controller, [
    ["things", key],
    ["a Thing", `${articleOf(kind)} ${kind}`],
    ["Thing", kind],
    ["demo\\.example\\.com", group],
    ["v1", apiVersion],
  ]);
  return new Map([...files].map(([name, text]) => [name === "v1.ts" ? `${apiVersion}.ts` : name, text]));
}

/** Returns the article for a kind, by its first letter. */
export function articleOf(kind: string): "a" | "an" {
  return /^[AEIO]/.test(kind) ? "an" : "a";
}

/** Returns the files of a template's only folder, with words replaced. */
function rendered(
  template: Readonly<Record<string, string>>,
  words: readonly (readonly [word: string, replacement: string])[],
): Map<string, string> {
  const pattern = new RegExp(`\\b(?:${words.map(([word]) => `(${word})`).join("|")})\\b`, "g");
  return new Map(
    Object.entries(template).map(([path, text]) => [
      path.slice(path.indexOf("/") + 1),
      text.replace(
        pattern,
        (_, ...groups: (string | undefined)[]) => words[groups.findIndex((one) => one !== undefined)]![1],
      ),
    ]),
  );
}

/** Returns a part's key if it is valid: it also becomes the name of a constant. */
export function partKey(key: string): string {
  if (/^[A-Za-z][A-Za-z0-9_]*$/.test(key)) return key;
  throw new UsageError(
    `Cannot name a part "${key}": use letters and digits, beginning with a letter, such as "websites".`,
  );
}

function rejectExistingKind(
  { kind, apiVersion, group, definition, isBuiltin }: KindNames,
  facts: OperatorFacts,
  file: string,
): void {
  const isSame = ({ spec }: OperatorFacts["crds"][number]) => spec.group === group && spec.names.kind === kind;
  const external = isBuiltin ? undefined : facts.externalCrds.find(isSame);
  const same = isBuiltin ? undefined : facts.crds.find(isSame) ?? external;
  if (same !== undefined) {
    const versions = same.spec.versions.map(({ name }) => name);
    const hint = external !== undefined || versions.includes(apiVersion)
      ? "Write another controller for it by hand, or use another kind."
      : `Add a version with "op new version --kind ${kind} --api-version ${apiVersion}".`;
    throw new Failure(`Cannot add kind "${kind}": the operator in "${file}" already has ${definition}. ${hint}`);
  }
}

/**
 * Returns the folder for a kind, with the first word of its group if another kind has that folder.
 */
async function folderFor({ folder, group, kind, isBuiltin }: KindNames, place: string): Promise<string> {
  const other = `${folder}_${(group.split(".")[0] || "core").replaceAll("-", "_")}`;
  for (const name of [folder, other]) if (!await exists(join(place, name))) return name;
  const subject = isBuiltin ? `a controller of ${kind}` : `kind "${kind}"`;
  throw new Failure(
    `Cannot add ${subject}: the folders "${folder}" and "${other}" exist, and op does not overwrite them.`,
  );
}
