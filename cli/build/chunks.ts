/**
 * The files of a bundle that was split where it imports on demand: what is not needed at every start stays unread on the disk. The bundler names them by
 * hashes of the paths that they were made of; here they get names by what is in them, so that equal code makes equal bytes in any folder.
 */
import { createHash } from "node:crypto";
import { basename, join } from "node:path";

/** A file of a bundle. */
export interface Chunk {
  /** Its name, as it stands in stack traces. */
  readonly name: string;
  readonly code: string;
  /** Its source map, as the bundler wrote it. */
  readonly map: string;
}

/** A file that another one imports, as the bundler and minifier write it. */
const IMPORTED = /((?:\bfrom|\bimport)\s*\(?\s*)"\.\/([^"/]+)"/g;

/**
 * Reads a bundle and gives its files their names.
 *
 * @param folder The folder that the bundler filled.
 * @param entry The name of the file that is run, as the bundler has it.
 * @param name The name that it gets.
 * @returns The files, that one first.
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
 * Names by content: that of a file tells what is in it, whatever the files that it imports are called.
 *
 * @param files The files' code by the names that the bundler gave them.
 * @param given Names that are settled.
 * @returns The new names by the old ones.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const here = new Map([["main.js", 'import("./x509-AAAAAAAA.js")'], ["x509-AAAAAAAA.js", "export{}"]]);
 * const there = new Map([["main.js", 'import("./x509-BBBBBBBB.js")'], ["x509-BBBBBBBB.js", "export{}"]]);
 * const given = new Map([["main.js", "operator.js"]]);
 * assert.deepEqual([...stableNames(here, given).values()], [...stableNames(there, given).values()]);
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
    if (free === undefined) throw new Error(`Cannot name the file "${file}" of a bundle: another one is the same`);
    names.set(file, free);
    taken.add(free);
  }
  return names;
}

/** What a file was called before the bundler's hash. */
function stemOf(file: string): string {
  return basename(file, ".js").replace(/-[0-9A-Z]{8}$/, "");
}

function renamed(code: string, nameOf: (file: string) => string | undefined): string {
  return code.replace(IMPORTED, (whole, before: string, file: string) => {
    const name = nameOf(file);
    return name === undefined ? whole : `${before}"./${name}"`;
  });
}
