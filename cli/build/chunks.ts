/**
 * Renames the files of a bundle. A bundle is split at dynamic imports, so that the operator reads
 * only the files that it needs at its start. The bundler derives their names from the paths of the
 * sources. Names from the content are used instead, so that builds are the same in any folder.
 */
import { createHash } from "node:crypto";
import { basename, join } from "node:path";

/** A file of a bundle. */
export interface Chunk {
  /** Its name in stack traces. */
  readonly name: string;
  readonly code: string;
  /** Its source map, as written by the bundler. */
  readonly map: string;
}

/** An import of another file, as the bundler and minifier write it. */
const IMPORTED = /((?:\bfrom|\bimport)\s*\(?\s*)"\.\/([^"/]+)"/g;

/**
 * Reads a bundle and renames its files.
 *
 * @param folder The folder that the bundler has written.
 * @param entry The bundler's name of the file that is run.
 * @param name The new name of that file.
 * @returns The files, the one that is run first.
 */
export async function chunksOf(folder: string, entry: string, name: string): Promise<readonly Chunk[]> {
  const files = new Map<string, string>();
  for await (const file of Deno.readDir(folder)) {
    if (file.name.endsWith(".js")) files.set(file.name, await Deno.readTextFile(join(folder, file.name)));
  }
  const names = stableNames(files, new Map([[entry, name]]));
  const chunks = [...files].map(async ([file, code]): Promise<Chunk> => ({
    name: names.get(file)!,
    code: renamed(code, (imported) => names.get(imported)),
    map: await Deno.readTextFile(join(folder, `${file}.map`)),
  }));
  const order = (chunk: Chunk) => chunk.name === name ? "" : chunk.name;
  return (await Promise.all(chunks)).sort((a, b) => order(a) < order(b) ? -1 : 1);
}

/**
 * Returns names that depend only on the content of the files, not on the names of their imports.
 *
 * @param files Code by the bundler's file names.
 * @param given Names that are fixed.
 * @returns New names by old names.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const bundle = (x509: string) =>
 *   new Map([["main.js", `import("./${x509}")`], [x509, "export{}"]]);
 * const given = new Map([["main.js", "operator.js"]]);
 * const names = (x509: string) => [...stableNames(bundle(x509), given).values()];
 * assert.deepEqual(names("x509-AAAAAAAA.js"), names("x509-BBBBBBBB.js"));
 * ```
 */
export function stableNames(
  files: ReadonlyMap<string, string>,
  given: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const names = new Map(given);
  const taken = new Set(given.values());
  for (const [file, code] of files) {
    if (names.has(file)) continue;
    const stem = stemOf(file);
    const digest = createHash("sha256").update(renamed(code, stemOf)).digest("hex");
    const free = [8, 12, 16, 64].map((length) => `${stem}-${digest.slice(0, length)}.js`).find((name) =>
      !taken.has(name)
    );
    if (free === undefined) {
      throw new Error(`Cannot name file "${file}" of a bundle: another file has the same content`);
    }
    names.set(file, free);
    taken.add(free);
  }
  return names;
}

/** Returns a file name without the bundler's hash. */
function stemOf(file: string): string {
  return basename(file, ".js").replace(/-[0-9A-Z]{8}$/, "");
}

function renamed(code: string, nameOf: (file: string) => string | undefined): string {
  return code.replace(IMPORTED, (whole, before: string, file: string) => {
    const name = nameOf(file);
    return name === undefined ? whole : `${before}"./${name}"`;
  });
}
