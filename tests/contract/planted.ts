/**
 * Plants faults in the server to test the contract itself. For each fault, a copy of the server's
 * source with one change is loaded, and a case must fail on that copy.
 */
import { dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { createApiserver } from "../../src/apiserver/mod.ts";

/** A change of the source that makes the server behave wrongly. */
export interface PlantedFault {
  /** Sentence that describes the wrong behavior. */
  readonly title: string;
  /** The file, relative to `src`. */
  readonly file: string;
  /** Source to replace. The file must contain it exactly once. */
  readonly from: string;
  /** Source that replaces it. */
  readonly to: string;
  /** Area and name of a case that must fail, such as `lists: an empty list`. */
  readonly foundBy: string;
}

/** The server's module. */
interface ServerModule {
  readonly createApiserver: typeof createApiserver;
}

/** The packages of the server. Each imports only those before it. */
const PACKAGES = ["base", "cel", "schema", "apiserver"];

const SOURCE = new URL("../../src/", import.meta.url);

/**
 * Loads a server with a fault.
 *
 * @param fault The fault; `undefined` for an unchanged copy.
 * @param folder Path of the copy. No other copy of this process may use it.
 * @returns The server's module.
 * @throws {Error} If the source to replace is not in the file, or more than once.
 */
export async function plant(fault: PlantedFault | undefined, folder: string): Promise<ServerModule> {
  const first = fault === undefined ? 0 : PACKAGES.findIndex((name) => fault.file.startsWith(`${name}/`));
  // Packages before the changed one do not import it, so the loaded ones are used.
  const copied = PACKAGES.slice(first);
  for (const name of copied) {
    for await (const file of sources(new URL(`${name}/`, SOURCE), `${name}/`)) {
      const text = await Deno.readTextFile(new URL(file, SOURCE));
      const made = file === fault?.file ? replaceOnce(text, fault) : text;
      await write(`${folder}/${file}`, withAbsoluteImports(made, copied));
    }
  }
  return await import(pathToFileURL(`${folder}/apiserver/mod.ts`).href);
}

function replaceOnce(text: string, { title, file, from, to }: PlantedFault): string {
  const parts = text.split(from);
  if (parts.length === 2) return parts.join(to);
  const count = parts.length === 1 ? "is missing" : `occurs ${parts.length - 1} times`;
  throw new Error(`Planted fault "${title}": "${file}": the source to replace ${count}. Update "from": ${from}`);
}

/** Returns a source with imports of packages that are not copied replaced by absolute ones. */
function withAbsoluteImports(text: string, copied: readonly string[]): string {
  return text.replaceAll(/(from |import\()"(?:\.\.\/)+(\w+)\//g, (whole, before, name) => {
    const isElsewhere = !copied.includes(name) && (PACKAGES.includes(name) || name === "openapi");
    return isElsewhere ? `${before}"${SOURCE.href}${name}/` : whole;
  });
}

async function* sources(folder: URL, path: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(fileURLToPath(folder))) {
    if (isDirectory) yield* sources(new URL(`${name}/`, folder), `${path}${name}/`);
    else if (name.endsWith(".ts") && !name.endsWith("_test.ts")) yield `${path}${name}`;
  }
}

/** Writes a file if its content changes. If it does not change, Deno can use its compile cache. */
async function write(path: string, text: string): Promise<void> {
  if (await Deno.readTextFile(path).catch(() => undefined) === text) return;
  await Deno.mkdir(dirname(path), { recursive: true });
  await Deno.writeTextFile(path, text);
}
