/** Reads a kind's definition, and objects of this kind, from the modules of other projects. */
import { join, relative } from "node:path";
import { parseAllDocuments } from "yaml";
import { isObject } from "../../src/base/json.ts";
import { type Module, modulesOf, type Origin } from "./origins.ts";

/** The definition of a kind and objects of this kind. */
export interface Packed {
  readonly kind: string;
  /** Where it is published. Kinds of this repository have none. */
  readonly origin?: Origin;
  readonly definition: Record<string, unknown>;
  readonly samples: readonly Sample[];
}

/** An object that a project publishes. */
export interface Sample {
  readonly from: string;
  readonly object: Record<string, unknown>;
}

/**
 * The maximum number of objects of a kind. More would slow the tests down without covering more
 * cases.
 */
const MAX_SAMPLES = 24;

/**
 * Packs a kind.
 *
 * @param origin Where it is published.
 * @param folders The folders of the modules.
 * @throws {Error} If a module has another license than Apache-2.0 or was not fetched, or the file
 *   does not define the kind.
 */
export async function pack(origin: Origin, folders: ReadonlyMap<Module, string>): Promise<Packed> {
  const { kind, definition, samples } = origin;
  for (const module of modulesOf([origin])) await checkLicense(module, folderOf(module, folders));
  const path = join(folderOf(definition.module, folders), definition.path);
  const found = documentsOf(path, await Deno.readTextFile(path)).find((object) =>
    object.kind === "CustomResourceDefinition" && namesOf(object)?.kind === kind
  );
  if (found === undefined) throw new Error(`Cannot pack "${kind}": "${path}" does not define it`);
  const group = String((found.spec as Record<string, unknown>).group);
  const objects: Sample[] = [];
  for (const { module, path } of samples) {
    const folder = folderOf(module, folders);
    for (const file of filesIn(join(folder, path))) {
      for (const object of documentsOf(file, await Deno.readTextFile(file))) {
        if (object.kind !== kind || !String(object.apiVersion).startsWith(`${group}/`)) continue;
        objects.push({ from: `${module.path}/${relative(folder, file)}`, object });
      }
    }
  }
  return { kind, origin, definition: found, samples: spread(distinct(objects), MAX_SAMPLES) };
}

function folderOf(module: Module, folders: ReadonlyMap<Module, string>): string {
  const folder = folders.get(module);
  if (folder === undefined) throw new Error(`Cannot pack files of "${module.path}": the module was not fetched`);
  return folder;
}

async function checkLicense({ path }: Module, folder: string): Promise<void> {
  const license = await Deno.readTextFile(join(folder, "LICENSE")).catch(() => "");
  if (/Apache License\s+Version 2\.0/.test(license)) return;
  throw new Error(`Cannot pack files of "${path}": its license is not Apache-2.0`);
}

function* filesIn(path: string): Generator<string> {
  const entries = [...Deno.readDirSync(path)].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name, isDirectory } of entries) {
    if (isDirectory) yield* filesIn(join(path, name));
    else if (/\.(?:ya?ml|md)$/.test(name)) yield join(path, name);
  }
}

/**
 * Returns the objects in a YAML file, or in YAML blocks of Markdown. Documents that are not valid
 * YAML, such as templates, are skipped.
 */
function documentsOf(path: string, text: string): Record<string, unknown>[] {
  const texts = path.endsWith(".md")
    ? [...text.matchAll(/^```ya?ml[^\n]*\n([\s\S]*?)^```/gm)].map(([, block]) => block!)
    : [text];
  return texts.flatMap((text) =>
    [...parseAllDocuments(text, { logLevel: "error" })].flatMap((document) => {
      const object = document.errors.length > 0 ? undefined : valueOf(document);
      return isObject(object) ? [object] : [];
    })
  );
}

function valueOf(document: { toJS(): unknown }): unknown {
  try {
    return document.toJS();
  } catch (error) {
    if (error instanceof ReferenceError) return undefined; // an alias without an anchor: `*.example.com` without quotes
    throw error;
  }
}

function namesOf({ spec }: Record<string, unknown>): Record<string, unknown> | undefined {
  return isObject(spec) && isObject(spec.names) ? spec.names : undefined;
}

function distinct(objects: readonly Sample[]): Sample[] {
  const seen = new Set<string>();
  return objects.filter(({ object: { metadata: _, ...rest } }) => {
    const text = JSON.stringify(rest);
    return !seen.has(text) && seen.add(text);
  });
}

/** Returns at most `limit` elements, evenly spread. The choice is deterministic. */
function spread<T>(elements: readonly T[], limit: number): T[] {
  const step = Math.max(1, elements.length / limit);
  return elements.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step)).slice(0, limit);
}
