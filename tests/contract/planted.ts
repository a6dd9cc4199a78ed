/**
 * Faults planted in the server, to test the contract itself: a copy of the server's source with one
 * text changed, loaded beside the server. A case that does not fail for it would not find a fault
 * of that sort.
 */
import { dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { createApiserver } from "../../src/apiserver/mod.ts";

/** One change of the source that makes the server wrong. */
export interface PlantedFault {
  /** What the server does wrong. */
  readonly title: string;
  /** The file, from `src`. */
  readonly file: string;
  /** A text that is in the file once. */
  readonly from: string;
  /** What stands there instead. */
  readonly to: string;
  /** A case that must fail: its area and its name, as `lists: labels select`. */
  readonly foundBy: string;
}

/** As much of the server's module as is needed. */
interface ServerModule {
  readonly createApiserver: typeof createApiserver;
}

/** The rooms that the server is made of; each imports only those before it. */
const ROOMS = ["base", "cel", "schema", "apiserver"];

const SOURCE = new URL("../../src/", import.meta.url);

/**
 * Loads a server with a fault.
 *
 * @param fault The fault; without one the copy does as the server does.
 * @param folder Where the copy is written: a path, which no other copy of this process may have.
 * @returns The server's module.
 * @throws {Error} If the text that is to be changed is not in the file, or more than once.
 */
export async function plant(fault: PlantedFault | undefined, folder: string): Promise<ServerModule> {
  const first = fault === undefined ? 0 : ROOMS.findIndex((room) => fault.file.startsWith(`${room}/`));
  // What the changed room imports stays as it is, and is loaded already.
  const copied = ROOMS.slice(first);
  for (const room of copied) {
    for await (const file of sources(new URL(`${room}/`, SOURCE), `${room}/`)) {
      const text = await Deno.readTextFile(new URL(file, SOURCE));
      const made = file === fault?.file ? changed(text, fault) : text;
      await write(`${folder}/${file}`, linked(made, copied));
    }
  }
  return await import(pathToFileURL(`${folder}/apiserver/mod.ts`).href);
}

function changed(text: string, { title, file, from, to }: PlantedFault): string {
  const parts = text.split(from);
  if (parts.length === 2) return parts.join(to);
  const found = parts.length === 1 ? "it is not there" : `it is there ${parts.length - 1} times`;
  throw new Error(`Cannot plant the fault "${title}": ${found} in "${file}", name another text: ${from}`);
}

/** A source whose imports of rooms that are not copied lead to where these are. */
function linked(text: string, copied: readonly string[]): string {
  return text.replaceAll(/(from |import\()"(?:\.\.\/)+(\w+)\//g, (whole, before, room) => {
    const isElsewhere = !copied.includes(room) && (ROOMS.includes(room) || room === "openapi");
    return isElsewhere ? `${before}"${SOURCE.href}${room}/` : whole;
  });
}

async function* sources(folder: URL, path: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(fileURLToPath(folder))) {
    if (isDirectory) yield* sources(new URL(`${name}/`, folder), `${path}${name}/`);
    else if (name.endsWith(".ts") && !name.endsWith("_test.ts")) yield `${path}${name}`;
  }
}

/** Writes a file, unless it is there as it is to be: then what was compiled of it holds. */
async function write(path: string, text: string): Promise<void> {
  if (await Deno.readTextFile(path).catch(() => undefined) === text) return;
  await Deno.mkdir(dirname(path), { recursive: true });
  await Deno.writeTextFile(path, text);
}
